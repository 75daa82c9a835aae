import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { childrenOf } from '../test/e2e/support/processes.js';
import { TestCluster, type TestServer, tokens } from '../test/e2e/support/test-cluster.js';
import { bodyOf, Filler, groups, namespaceOf, namespaces, pathOf } from './growth/filler.js';
import { type Figures, forMs, Load } from './growth/load.js';
import { loopsWithMany } from './growth/loops.js';
import { renderMillion } from './growth/render-million.js';
import { longestTurn } from './growth/turns.js';

/*
 * One process over one Postgres (fsync on), with up to a million ConfigMaps and Pods of 1 KB (five to one). At every size the
 * same: a start after a kill, a list of all, requests; at the end once more with a cache that holds a part only. Prints JSON lines.
 *   --objects 12000,120000      sizes, counted over both kinds
 *   --seconds 2                 time per figure
 *   --cache 4294967296          --watch-cache-max-bytes
 *   --small-cache 268435456     that of the last part
 *   --render FILE               only writes the table and the plot of docs/benchmarks.md from the lines of an earlier run
 */
const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '12000,120000' },
    seconds: { type: 'string', default: '2' },
    cache: { type: 'string', default: String(4 * 2 ** 30) },
    'small-cache': { type: 'string', default: String(256 * 2 ** 20) },
    render: { type: 'string' },
  },
});
if (flags.render !== undefined) {
  renderMillion(readFileSync(flags.render, 'utf8'));
  process.exit();
}
const sizes = flags.objects.split(',').map(Number);
const durationMs = Number(flags.seconds) * 1000;
const maps = '/api/v1/configmaps';
const few = 1_000;
let extra = 0;

const cluster = await TestCluster.start({ servers: 0, fsync: true });
const admin = new pg.Client({ connectionString: cluster.databaseUrl });
admin.on('error', () => {});
await admin.connect();

const report = (line: Record<string, unknown>) =>
  console.log(
    JSON.stringify(line, (_, value) =>
      typeof value === 'number' && !Number.isInteger(value) ? Math.round(value * 100) / 100 : value,
    ),
  );

/** Processor seconds of a process with all its threads. */
function seconds(pid: number): number {
  let sum = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // The thread has ended.
    }
  }
  return sum / 1e9;
}

/** Processor time of PostgreSQL for requests, without autovacuum, which is still busy with the filled objects. */
function postgresSeconds(server: number): number {
  const postmasters = childrenOf(process.pid).filter((pid) => pid !== server);
  return postmasters
    .flatMap((pid) => [pid, ...childrenOf(pid)])
    .reduce((sum, pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('autovacuum') ? sum : sum + seconds(pid);
      } catch {
        return sum;
      }
    }, 0);
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Runs `work` while another client gets an object again and again; returns the longest it waited, in milliseconds. */
async function probed(load: Load, work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  let worst = 0;
  while (!isDone) {
    const began = performance.now();
    await load.send('GET', pathOf(0), 200);
    worst = Math.max(worst, performance.now() - began);
  }
  await working;
  return worst;
}

async function measure(server: TestServer, load: Load, size: number, part: string): Promise<void> {
  const pid = server.process.pid as number;
  const figures: Record<string, unknown> = {};
  const work = async (name: string, clients: number, once: () => Promise<number>) => {
    const before = [seconds(pid), postgresSeconds(pid)] as const;
    const one: Figures = await load.measure(clients, forMs(durationMs), once);
    const count = Math.max(1, Math.round((one.perSecond * one.spanMs) / 1000));
    figures[name] = [
      one.perSecond,
      one.p50Ms,
      one.p99Ms,
      ((seconds(pid) - before[0]) * 1e6) / count,
      ((postgresSeconds(pid) - before[1]) * 1e6) / count,
    ].map((value) => Math.round(value * 10) / 10);
  };
  const any = () => Math.floor(Math.random() * size);
  const read = async (path: string) => (await load.send('GET', path, 200))[0];
  const walk = (query: string) => {
    let token = '';
    return async () => {
      const [length, text] = await load.send('GET', `${maps}?limit=500${query}${token}`, 200, undefined, true);
      const next = /"continue":"([^"]+)"/.exec(text)?.[1];
      token = next === undefined ? '' : `&continue=${next}`;
      return length;
    };
  };
  const inNamespace = (i: number) => `/api/v1/namespaces/ns-${(i % namespaces) | 1}/configmaps`;
  await work('get', 16, () => read(pathOf(any())));
  await work('create', 16, async () => {
    const body = JSON.parse(bodyOf(2 * any() + 2));
    body.metadata.name = `x-${++extra}`;
    body.metadata.namespace = 'default';
    const kind = body.spec === undefined ? 'configmaps' : 'pods';
    return (await load.send('POST', `/api/v1/namespaces/default/${kind}`, 201, JSON.stringify(body)))[0];
  });
  await work('patch', 16, async () => {
    const body = JSON.stringify({ metadata: { annotations: { turn: String(performance.now()) } } });
    return (await load.send('PATCH', pathOf(any()), 200, body))[0];
  });
  await work('page', 1, walk(''));
  await work('page, version 0', 1, () => read(`${maps}?limit=500&resourceVersion=0`));
  await work('list of a namespace', 4, () => read(inNamespace(any())));
  await work('list of a namespace, version 0', 4, () => read(`${inNamespace(any())}?resourceVersion=0`));
  const label = (i: number) => `${maps}?labelSelector=group%3Dg${(i % groups) | 1}`;
  const beforeLabel = performance.now();
  figures['longest wait of others during the first by label'] = Math.round(await probed(load, () => read(label(1))));
  figures['first list by label'] = Math.round(performance.now() - beforeLabel);
  await work('list by label', 4, () => read(label(any())));
  const [, text] = await load.send('GET', `${maps}?limit=1`, 200, undefined, true);
  const version = /"resourceVersion":"(\d+)"/.exec(text)?.[1];
  await work('watch begins', 4, () => load.begin(`${maps}?watch=1&resourceVersion=${version}`));
  figures['longest turn, ms'] = await longestTurn(load);
  report({ part, size, ...figures });
}

async function listAll(load: Load, part: string, size: number): Promise<void> {
  const began = performance.now();
  let bytes = 0;
  const worst = await probed(load, async () => {
    bytes = (await load.send('GET', `${maps}?resourceVersion=0`, 200))[0];
  });
  report({
    part,
    size,
    'list of all ConfigMaps, s': (performance.now() - began) / 1000,
    MB: bytes / 1e6,
    'longest wait of others, ms': worst,
    'longest turn, ms': await longestTurn(load),
  });
}

async function memory(server: TestServer, part: string, size: number, empty: number, text: number): Promise<void> {
  const resident = residentBytes(server.process.pid as number);
  const { rows } = await admin.query<{ bytes: string; objects: string; log: string }>(`
    select pg_database_size(current_database()) as bytes, pg_total_relation_size('plinth.objects') as objects,
      (select sum(pg_total_relation_size(i.inhrelid)) from pg_inherits i where i.inhparent = 'plinth.changes'::regclass) as log`);
  report({
    part,
    size,
    'server MiB': resident / 2 ** 20,
    'bytes per object': (resident - empty) / size,
    'text per object': text / size,
    'of its text': (resident - empty) / text,
    'database MiB': Number(rows[0]?.bytes) / 2 ** 20,
    'objects MiB': Number(rows[0]?.objects) / 2 ** 20,
    'log MiB': Number(rows[0]?.log) / 2 ** 20,
  });
}

/** Starts a server after a kill, and reports how long that took. */
async function start(part: string, size: number, cacheBytes: string): Promise<{ server: TestServer; load: Load }> {
  const began = performance.now();
  // Lists of everything from the database may take longer than a minute on a busy machine.
  const server = await cluster.addServer(undefined, [`--watch-cache-max-bytes=${cacheBytes}`, '--request-timeout=10m']);
  const ready = performance.now();
  const processorSeconds = seconds(server.process.pid as number);
  const load = new Load(server.url, cluster.pki.authority, tokens.admin);
  await load.send('GET', `${maps}?limit=500`, 200);
  const listed = performance.now();
  await load.send('GET', `/api/v1/namespaces/${namespaceOf(1)}/pods`, 200);
  report({
    part,
    size,
    'ready, s': (ready - began) / 1000,
    'ready, processor s': processorSeconds,
    'first page, ms': listed - ready,
    'a namespace, ms': performance.now() - listed,
    'longest turn, ms': await longestTurn(load),
  });
  return { server, load };
}

async function kill({ server, load }: { readonly server: TestServer; readonly load: Load }): Promise<void> {
  load.close();
  cluster.servers.splice(cluster.servers.indexOf(server), 1);
  await server.stop('SIGKILL');
}

try {
  const first = await start('few objects', 0, flags.cache);
  const filler = await Filler.open(cluster.databaseUrl, first.load);
  // Warm, and with hardly anything.
  let text = await filler.fill(0, few);
  await measure(first.server, first.load, few, 'few objects');
  const empty = residentBytes(first.server.process.pid as number);
  await kill(first);
  let size = few;
  const parts = [...sizes.map((next) => ['all in memory', next, flags.cache] as const)];
  for (const [part, next, cache] of [...parts, ['small cache', sizes.at(-1) ?? 0, flags['small-cache']] as const]) {
    const began = performance.now();
    text += await filler.fill(size, next);
    report({ part: 'fill', size: next, seconds: (performance.now() - began) / 1000 });
    size = next;
    const run = await start(part, size, cache);
    await listAll(run.load, part, size);
    await listAll(run.load, `${part}, again`, size);
    await measure(run.server, run.load, size, part);
    await memory(run.server, part, size, empty, text);
    if (part === 'all in memory') report({ part: 'control loops', size, ...(await loopsWithMany(cluster, run.load)) });
    await kill(run);
  }
  await filler.close();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await admin.end();
  await cluster.stop();
}
