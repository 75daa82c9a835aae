import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { childrenOf, parentOf, processorMicroseconds } from '../test/e2e/support/processes.js';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { type Ask, Asker, accepts, streamedList } from './asks.js';

/*
 * Processor time per request, of the server and of PostgreSQL, and bytes of the write-ahead log. From the accounts of the
 * scheduler, which other work on the machine changes least. `npm run bench:cost -- [flags]`.
 *   --peer FILE     this program in another tree, `dist/bench/request-cost.js`: measured in turn, and compared
 *   --only a,b      some of the works; get, patch and put bring create along
 *   --rounds N      bursts of each work (default 20); many short ones in turn see the same machine
 *   --requests N    requests of a burst (default 300; lists of all a fiftieth of that, lists of few and those of one
 *                   client a third; at least 4)
 *   --clients N     connections (default 16)
 *   --objects N     pods to list (default 5,000)
 */
const { values: flags } = parseArgs({
  options: {
    peer: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '20' },
    requests: { type: 'string', default: '300' },
    clients: { type: 'string', default: '16' },
    objects: { type: 'string', default: '5000' },
  },
});

interface Costs {
  /** Microseconds per request. */
  readonly server: number;
  readonly database: number;
  /** Bytes of the write-ahead log per request. */
  readonly log: number;
}

interface Sent {
  readonly status: number;
  readonly text: string;
}

interface Work {
  /** Lists of the existing objects; they are requested less often, by 4 clients. */
  readonly list?: 'all' | 'few';
  /** By one client, and less often. */
  readonly isAlone?: boolean;
  readonly run: (send: Send, serial: number, asker: Asker) => Promise<unknown>;
}

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Sent>;

const pods = '/api/v1/namespaces/default/pods';
const maps = '/api/v1/namespaces/default/configmaps';
const listed = '/api/v1/namespaces/listed/pods';
const bound = '/api/v1/namespaces/bound/pods';

/** One in a hundred objects of a list has the same label. */
const share = 100;

const pod = (name: string, serial = 0, nodeName?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { app: 'bench', part: name, share: `share-${serial % share}` },
    annotations: { 'example.com/note': 'a short note' },
  },
  spec: {
    ...(nodeName === undefined ? {} : { nodeName }),
    containers: ['main', 'sidecar'].map((container) => ({
      name: container,
      image: 'registry.example/team/image:1.2.3',
      ports: [{ name: 'http', containerPort: 8080 }],
      env: Array.from({ length: 8 }, (_, i) => ({ name: `SETTING_${i}`, value: `value ${i}` })),
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 5 },
    })),
  },
});

/** A list of the Pods of a path, as the cache has them, or of those that a selector wants, as they are now. */
const list = (
  path: string,
  form: keyof typeof accepts,
  { gzip = false, how = 'once', alone = false }: { gzip?: boolean; how?: Ask['how']; alone?: boolean } = {},
): Work => ({
  list: path.includes('Selector') || path.startsWith(bound) ? 'few' : 'all',
  isAlone: alone,
  run: (_send, _serial, asker) => asker.ask({ path, how, accept: accepts[form], gzip }),
});

const cached = `${listed}?resourceVersion=0`;
const paged = `${listed}?limit=500`;
const streamed = `${listed}?${streamedList}`;
const labelled = `${listed}?labelSelector=share%3Dshare-7`;
const ofNode = '/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-7';
const gzip = true;
const how = 'pages';
const metadata = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const works: Readonly<Record<string, Work>> = {
  create: { run: (send, serial) => send('POST', pods, pod(`p-${serial}`)) },
  map: {
    run: (send, serial) => send('POST', maps, { metadata: { name: `m-${serial}` }, data: { key: 'x'.repeat(500) } }),
  },
  get: { run: (send, serial) => send('GET', `${pods}/p-${serial}`) },
  patch: {
    run: (send, serial) =>
      send(
        'PATCH',
        `${pods}/p-${serial}`,
        { metadata: { annotations: { turn: String(performance.now()) } } },
        { 'content-type': 'application/merge-patch+json' },
      ),
  },
  put: {
    run: async (send, serial) => {
      const { text } = await send('GET', `${pods}/p-${serial}`);
      const object = JSON.parse(text);
      object.metadata.labels.turn = String(Math.round(performance.now()));
      return send('PUT', `${pods}/p-${serial}`, object);
    },
  },
  createAlone: { isAlone: true, run: (send, serial) => send('POST', pods, pod(`a-${serial}`)) },
  mapAlone: {
    isAlone: true,
    run: (send, serial) => send('POST', maps, { metadata: { name: `n-${serial}` }, data: { key: 'x'.repeat(500) } }),
  },
  getProtobuf: { run: (send, serial) => send('GET', `${pods}/p-${serial}`, undefined, { accept: accepts.protobuf }) },
  list: list(cached, 'json'),
  listProtobuf: list(cached, 'protobuf'),
  listTable: list(cached, 'table'),
  listGzip: list(cached, 'json', { gzip }),
  listProtobufGzip: list(cached, 'protobuf', { gzip }),
  listTableGzip: list(cached, 'table', { gzip }),
  metadata: { list: 'all', run: (send) => send('GET', cached, undefined, { accept: `application/json${metadata}` }) },
  metadataProtobuf: {
    list: 'all',
    run: (send) => send('GET', cached, undefined, { accept: `application/vnd.kubernetes.protobuf${metadata}` }),
  },
  pages: list(paged, 'json', { how }),
  pagesProtobuf: list(paged, 'protobuf', { how }),
  pagesTable: list(paged, 'table', { how }),
  pagesGzip: list(paged, 'json', { how, gzip }),
  pagesProtobufGzip: list(paged, 'protobuf', { how, gzip }),
  pagesTableGzip: list(paged, 'table', { how, gzip }),
  stream: list(streamed, 'json', { how: 'stream' }),
  streamProtobuf: list(streamed, 'protobuf', { how: 'stream' }),
  label: list(labelled, 'json'),
  labelGzip: list(labelled, 'json', { gzip }),
  labelProtobuf: list(labelled, 'protobuf'),
  labelProtobufGzip: list(labelled, 'protobuf', { gzip }),
  labelTable: list(`${labelled}&limit=500`, 'table', { gzip }),
  node: list(ofNode, 'json'),
  nodeProtobuf: list(`${ofNode}&resourceVersion=0`, 'protobuf', { gzip }),
  namespace: list(bound, 'json'),
  namespaceProtobuf: list(bound, 'protobuf', { gzip }),
};
const chosen = flags.only?.split(',') ?? Object.keys(works);
// The other cases use the objects that this one creates.
const needCreated = chosen.some((name) => ['get', 'getProtobuf', 'patch', 'put'].includes(name));
const names = Object.keys(works).filter((name) => chosen.includes(name) || (name === 'create' && needCreated));
const clients = Number(flags.clients);
/** By then the code is compiled. */
const warmUpRounds = 16;

function parallelOf({ list, isAlone }: Work): number {
  if (isAlone === true) return 1;
  return list === undefined ? clients : 4;
}

/** Of how many requests of a burst one is sent. */
function oneIn({ list, isAlone }: Work): number {
  if (list === 'all') return 50;
  return list === 'few' || isAlone === true ? 3 : 1;
}

/** Waits for orders and measures this tree. */
async function measured(): Promise<void> {
  const cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=Node,RBAC'], fsync: true });
  const admin = new pg.Client({ connectionString: cluster.databaseUrl });
  await admin.connect();
  const agent = new Agent({ keepAlive: true, maxSockets: clients, rejectUnauthorized: false });
  const asker = new Asker(cluster.first.url, tokens.admin, clients);
  const send: Send = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const all: Record<string, string> = { authorization: `Bearer ${tokens.admin}`, ...headers };
      if (text !== undefined) {
        all['content-type'] ??= 'application/json';
        all['content-length'] = String(Buffer.byteLength(text));
      }
      const request = httpsRequest(`${cluster.first.url}${path}`, { method, headers: all, agent }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => {
          parts.push(part);
        });
        response.on('close', () => {
          const status = response.statusCode ?? 0;
          const text = Buffer.concat(parts).toString('latin1');
          if (status >= 300) reject(new Error(`${method} ${path}: ${status} ${text.slice(0, 300)}`));
          else resolve({ status, text });
        });
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(text);
    });
  const server = cluster.first.process.pid as number;
  const { rows } = await admin.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postmaster = parentOf(rows[0]?.pid as number);
  const usage = async () => {
    const { rows } = await admin.query<{ at: string }>(`select pg_current_wal_lsn() - '0/0'::pg_lsn as at`);
    const database = childrenOf(postmaster).reduce((sum, pid) => sum + processorMicroseconds(pid), 0);
    return { server: processorMicroseconds(server), database, log: Number(rows[0]?.at) };
  };
  const each = async (count: number, parallel: number, one: (serial: number) => Promise<unknown>) => {
    let next = 0;
    const client = async () => {
      for (let serial = next++; serial < count; serial = next++) await one(serial);
    };
    await Promise.all(Array.from({ length: parallel }, client));
  };
  const serials = new Map<string, number>();
  const burst = async (name: string, count: number): Promise<Costs> => {
    const work = works[name] as Work;
    const isNew = ['create', 'map', 'createAlone', 'mapAlone'].includes(name);
    const first = isNew ? (serials.get(name) ?? 0) : 0;
    if (isNew) serials.set(name, first + count);
    const before = await usage();
    await each(count, parallelOf(work), (serial) => work.run(send, first + serial, asker));
    const after = await usage();
    const per = (value: 'server' | 'database' | 'log') => (after[value] - before[value]) / count;
    return { server: per('server'), database: per('database'), log: per('log') };
  };
  const prepare = async () => {
    if (names.some((name) => works[name]?.list !== undefined)) {
      for (const name of ['listed', 'bound']) await send('POST', '/api/v1/namespaces', { metadata: { name } });
      const objects = Number(flags.objects);
      await each(objects, clients, (serial) => send('POST', listed, pod(`l-${serial}`, serial)));
      await each(objects / share, clients, (serial) => send('POST', bound, pod(`b-${serial}`, serial, 'node-7')));
    }
    if (!names.includes('create')) await burst('create', Number(flags.requests));
  };
  const finish = (result: unknown) => {
    process.send?.({ result });
    if (result === 'ended') process.disconnect?.();
  };
  process.once('disconnect', () => process.exit());
  process.on('message', (order: { name: string; count: number } | 'prepare' | 'end') => {
    const answer = async (): Promise<unknown> => {
      if (order === 'prepare') return prepare();
      if (order !== 'end') return burst(order.name, order.count);
      agent.destroy();
      asker.close();
      await admin.end();
      await cluster.stop();
      return 'ended';
    };
    answer().then(finish, (error: unknown) => process.send?.({ error: String(error) }));
  });
  process.send?.({ result: 'ready', pid: server });
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const [{ result, error, pid }] = (await once(child, 'message')) as [
    { result?: unknown; error?: string; pid?: number },
  ];
  if (error !== undefined) throw new Error(error);
  if (pid !== undefined) console.error(`server process ${pid}`);
  return result;
}

const quantile = (values: readonly number[], at: number): number =>
  [...values].sort((a, b) => a - b)[Math.round((values.length - 1) * at)] as number;

/** The mean of ratios with its standard error: how far another run of as many pairs may be off. */
function geometricMean(ratios: readonly number[]): string {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / Math.max(1, logs.length - 1);
  return `${Math.exp(mean).toFixed(3)} (${Math.sqrt(variance / logs.length).toFixed(3)})`;
}

async function compared(): Promise<void> {
  const files = [fileURLToPath(import.meta.url), ...(flags.peer === undefined ? [] : [flags.peer])];
  const children: ChildProcess[] = [];
  const ask = async (child: ChildProcess, order: unknown): Promise<unknown> => {
    child.send(order as object);
    return answerOf(child);
  };
  for (const file of files) {
    const child = fork(file, process.argv.slice(2), { env: { ...process.env, PLINTH_MEASURED: '1' } });
    children.push(child);
    await answerOf(child);
    await ask(child, 'prepare');
  }
  const count = (name: string) => Math.max(4, Math.round(Number(flags.requests) / oneIn(works[name] as Work)));
  const results = children.map(() => new Map(names.map((name) => [name, [] as Costs[]])));
  const rounds = Number(flags.rounds);
  // The others warm up as they will be measured, in turn: a process that has waited for the others to warm up has lost
  // compiled code by then, and pays for it again in what is measured.
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const name of names) {
      // The second case finds other caches than the first: both take turns in coming second.
      const inTurn = [...children.entries()];
      for (const [i, child] of round % 2 === 0 ? inTurn : inTurn.reverse()) {
        const costs = (await ask(child, { name, count: count(name) })) as Costs;
        if (round >= 0) results[i]?.get(name)?.push(costs);
        // A run that is cut short has shown what it found.
        console.error(`${round} ${name} ${i === 0 ? 'here' : 'peer'} ${JSON.stringify(costs)}`);
      }
    }
  }
  console.log('| work | | here | peer | here / peer, median (quartiles) | mean (standard error) |');
  console.log('| --- | --- | ---: | ---: | ---: | ---: |');
  for (const name of names) {
    for (const what of ['server', 'database', 'log'] as const) {
      const [own, other] = results.map((all) => (all.get(name) as Costs[]).map((costs) => costs[what]));
      if (own === undefined) continue;
      const cells = [quantile(own, 0.25).toFixed(0)];
      if (other !== undefined) {
        const ratios = own.map((value, i) => value / (other[i] as number));
        const [low, middle, high] = [0.25, 0.5, 0.75].map((at) => quantile(ratios, at).toFixed(3));
        cells.push(quantile(other, 0.25).toFixed(0), `${middle} (${low} to ${high})`, geometricMean(ratios));
      }
      console.log(`| ${name} | ${what} | ${cells.join(' | ')} |`);
    }
  }
  for (const child of children) await ask(child, 'end');
}

if (process.env.PLINTH_MEASURED === '1') await measured();
else await compared();
