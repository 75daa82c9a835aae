import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { processorSeconds, residentBytes } from '../test/e2e/support/processes.js';
import { TestCluster, type TestServer, tokens } from '../test/e2e/support/test-cluster.js';
import { Sender } from './fairness/target.js';
import { Watchers } from './watches/watchers.js';

/*
 * What watches cost one server: `npm run bench:watches -- [flags]`. Over HTTP/1.1 (a connection for each) and HTTP/2
 * (250 on a connection): the memory of many idle watches, each of its own namespace; the processor time of the server
 * while objects are written at a steady rate in some of these namespaces; and the ages of events when one client writes as
 * fast as it can to a kind with 500 watches of everything. Needs two open files for each watch.
 *   --watches N     idle watches (default 10,000)
 *   --rate N        writes per second (default 100)
 *   --seconds N     for so long (default 20)
 *   --watchers N    watches of the burst (default 500)
 *   --writes N      writes of the burst (default 200)
 *   --bursts N      how often (default 5)
 *   --only a,b      of http1, http2; idle, burst
 *   --main FILE     the compiled program to measure (default: this tree's)
 */
const { values: flags } = parseArgs({
  options: {
    watches: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
    watchers: { type: 'string', default: '500' },
    writes: { type: 'string', default: '200' },
    bursts: { type: 'string', default: '5' },
    only: { type: 'string', default: 'http1,http2,idle,burst' },
    main: { type: 'string' },
  },
});
const [watches, rate, seconds] = [Number(flags.watches), Number(flags.rate), Number(flags.seconds)];
const [watchers, writes, bursts] = [Number(flags.watchers), Number(flags.writes), Number(flags.bursts)];
const only = flags.only.split(',');
const isWanted = (...names: readonly string[]) => names.some((name) => only.includes(name));

/** Namespaces that exist and are written to; to the server watches of others are the same. */
const written = 100;
const namespace = (i: number) => `bench-${i}`;
const configMaps = (i: number) => `/api/v1/namespaces/${namespace(i)}/configmaps`;

const watched = ({ url }: TestServer, http2: boolean) => ({ url, token: tokens.admin, http2 });
const now = () => performance.timeOrigin + performance.now();
const mebibytes = (bytes: number) => Math.round(bytes / 1024 / 1024);

async function newestVersion({ client }: TestServer): Promise<string> {
  return (await client.get(`${configMaps(0)}?limit=1`)).body.metadata.resourceVersion;
}

async function write(sender: Sender, path: string, name: string): Promise<void> {
  const data = { sent: now().toFixed(6), text: 'key: value\n'.repeat(40) };
  const { status } = await sender.send('POST', path, { metadata: { name }, data });
  if (status !== 201) throw new Error(`POST ${path}: ${status}`);
}

/** The resident memory once it has settled: the smallest of some seconds. */
async function settled(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 10; i++) {
    await delay(1000);
    least = Math.min(least, residentBytes(pid));
  }
  return least;
}

async function idle(server: TestServer, sender: Sender, http2: boolean): Promise<void> {
  const pid = server.process.pid as number;
  const before = await settled(pid);
  const watching = new Watchers();
  const from = `resourceVersion=${await newestVersion(server)}`;
  const paths = Array.from({ length: watches }, (_, i) => `${configMaps(i)}?watch=1&allowWatchBookmarks=1&${from}`);
  const { open } = await watching.open(watched(server, http2), paths);
  const memory = await settled(pid);
  const label = `${open} watches, HTTP/${http2 ? 2 : 1.1}`;
  const each = Math.round((memory - before) / open / 1024);
  console.log(`${label}: ${mebibytes(memory)} MiB resident, ${mebibytes(before)} before, ${each} KiB for each watch`);

  const measured = async (what: string, perSecond: number) => {
    await watching.report();
    const began = performance.now();
    const spent = processorSeconds(pid);
    const pending: Promise<void>[] = [];
    for (let i = 0; i < perSecond * seconds; i++) {
      await delay(Math.max(0, began + (i / perSecond) * 1000 - performance.now()));
      pending.push(write(sender, configMaps(i % written), `${what}-${i}`));
    }
    await Promise.all(pending);
    await delay(Math.max(0, began + seconds * 1000 - performance.now()));
    const share = ((processorSeconds(pid) - spent) / (performance.now() - began)) * 1e5;
    const { events, bookmarks, p50, p99 } = await watching.report();
    const ages = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    console.log(
      `${label}, ${perSecond} writes/s: ${share.toFixed(1)} % of a core, ${events} events (${ages}), ${bookmarks} bookmarks`,
    );
  };
  await measured(`none-${http2}`, 0);
  await measured(`steady-${http2}`, rate);
  watching.close();
}

async function burst(server: TestServer, sender: Sender, http2: boolean): Promise<void> {
  const pid = server.process.pid as number;
  for (let round = 0; round < bursts; round++) {
    const watching = new Watchers();
    const path = `/api/v1/configmaps?watch=1&resourceVersion=${await newestVersion(server)}`;
    await watching.open(watched(server, http2), Array(watchers).fill(path));
    await watching.report();
    const began = performance.now();
    const spent = processorSeconds(pid);
    for (let i = 0; i < writes; i++) await write(sender, configMaps(0), `burst-${http2}-${round}-${i}`);
    const wrote = performance.now() - began;
    await delay(1000);
    const processor = (processorSeconds(pid) - spent) * 1000;
    const { events, p50, p99, most } = await watching.report();
    const ages = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${most.toFixed(1)} ms`;
    const isWhole = events === watchers * writes ? '' : ` INSTEAD OF ${watchers * writes}`;
    console.log(
      `burst, ${watchers} watches, HTTP/${http2 ? 2 : 1.1}: ${events} events${isWhole} (${ages}), ` +
        `written in ${Math.round(wrote)} ms, ${Math.round(processor)} ms of processor time`,
    );
    watching.close();
    await delay(500);
  }
}

for (const http2 of [false, true]) {
  if (!isWanted(http2 ? 'http2' : 'http1')) continue;
  const cluster = await TestCluster.start({
    servers: 1,
    flags: ['--authorization-mode=Node,RBAC', '--max-connections-per-address=0'],
    ...(flags.main === undefined ? {} : { mainFile: flags.main, accounts: false }),
  });
  try {
    const server = cluster.first;
    const sender = new Sender({ name: 'plinth', url: server.url, token: tokens.admin }, undefined, 16);
    for (let i = 0; i < written; i++)
      await sender.send('POST', '/api/v1/namespaces', { metadata: { name: namespace(i) } });
    if (isWanted('burst')) await burst(server, sender, http2);
    if (isWanted('idle')) await idle(server, sender, http2);
    sender.close();
  } finally {
    await cluster.stop();
  }
}
