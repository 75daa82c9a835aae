import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TestCluster, type TestServer, tokens } from '../test/e2e/support/test-cluster.js';
import type { TestStandby } from '../test/support/test-postgres.js';
import { Sender } from './fairness/target.js';
import { useOf } from './peers/peer.js';
import { postmasterOn } from './peers/plinth-peer.js';
import { Watchers } from './watches/watchers.js';

/*
 * What watchers cost the primary: one server that is written to at a steady rate, then two more servers with many
 * watches (HTTP/2, each of its own namespace, and some of everything) that read the primary, then the same with a read
 * replica for each of the two. Prints processor time of the three PostgreSQL. `npm run bench:replicas -- [flags]`
 *   --watches N     of both servers together (default 10,000)
 *   --wide N        more watches, which follow all namespaces (default 20)
 *   --rate N        writes per second (default 50)
 *   --seconds N     for so long (default 20)
 *   --only a,b      of none, primary, replicas
 */
const { values: flags } = parseArgs({
  options: {
    watches: { type: 'string', default: '10000' },
    wide: { type: 'string', default: '20' },
    rate: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string', default: 'none,primary,replicas' },
  },
});
const [watches, wide, rate, seconds] = [flags.watches, flags.wide, flags.rate, flags.seconds].map(Number) as [
  number,
  number,
  number,
  number,
];

/** Namespaces that exist and are written to; to the server watches of others are the same. */
const written = 100;
const namespace = (i: number) => `bench-${i}`;
const configMaps = (i: number) => `/api/v1/namespaces/${namespace(i)}/configmaps`;
const now = () => performance.timeOrigin + performance.now();

interface Scene {
  readonly cluster: TestCluster;
  readonly replicas: readonly TestStandby[];
  readonly sender: Sender;
}

async function openWatches(server: TestServer, share: number): Promise<Watchers> {
  const watching = new Watchers();
  const { body } = await server.client.get(`${configMaps(0)}?limit=1`);
  const query = `?watch=1&allowWatchBookmarks=1&resourceVersion=${body.metadata.resourceVersion}`;
  const narrow = Array.from({ length: watches / share }, (_, i) => `${configMaps(i)}${query}`);
  const all = Array.from({ length: wide / share }, () => `/api/v1/configmaps${query}`);
  await watching.open({ url: server.url, token: tokens.admin, http2: true }, [...narrow, ...all]);
  return watching;
}

async function writeSteadily(sender: Sender, title: string): Promise<number> {
  const began = performance.now();
  const pending: Promise<void>[] = [];
  for (let i = 0; i < rate * seconds; i++) {
    await delay(Math.max(0, began + (i / rate) * 1000 - performance.now()));
    const data = { sent: now().toFixed(6), text: 'key: value\n'.repeat(40) };
    const sent = sender.send('POST', configMaps(i % written), { metadata: { name: `${title}-${i}` }, data });
    pending.push(
      sent.then(({ status }) => {
        if (status !== 201) throw new Error(`POST: ${status}`);
      }),
    );
  }
  await Promise.all(pending);
  return (performance.now() - began) / 1000;
}

async function measure(title: string, { cluster, replicas, sender }: Scene, readers: readonly TestServer[]) {
  const watching = await Promise.all(readers.map((reader) => openWatches(reader, readers.length)));
  await Promise.all(watching.map((one) => one.report()));
  const stores = [cluster.postgres, ...replicas].map(({ port }) => [postmasterOn(port)]);
  const servers = [cluster.first, ...readers].map(({ process: { pid } }) => [pid as number]);
  const use = () => [...stores, ...servers].map((root) => useOf(root).processorSeconds);
  const before = use();
  const elapsed = await writeSteadily(sender, title);
  await delay(1000);
  const shares = use().map((spent, i) => (100 * (spent - (before[i] ?? 0))) / elapsed);
  const [primary = 0, ...others] = shares.slice(0, stores.length).map((share) => share.toFixed(1));
  const [first = 0, ...more] = shares.slice(stores.length).map((share) => share.toFixed(1));
  const reports = await Promise.all(watching.map((one) => one.report()));
  for (const one of watching) one.close();
  const events = reports.reduce((sum, report) => sum + report.events, 0);
  const worst = (key: 'p50' | 'p99') => Math.max(0, ...reports.map((report) => report[key])).toFixed(0);
  // Each write is seen by every watch of everything, and by the watches of its namespace: one on each server.
  const due = rate * seconds * (readers.length === 0 ? 0 : wide + readers.length);
  console.log(
    `| ${[title, primary, others.join(' + '), first, more.join(' + ') || '-', `${events} of ${due}`, worst('p50'), worst('p99')].join(' | ')} |`,
  );
}

const readerFlags = ['--max-connections-per-address=0'];
const cluster = await TestCluster.start({
  servers: 1,
  fsync: true,
  flags: ['--authorization-mode=Node,RBAC'],
});
const replicas: TestStandby[] = [];
try {
  const { first, postgres, databaseUrl } = cluster;
  const sender = new Sender({ name: 'plinth', url: first.url, token: tokens.admin }, undefined, 16);
  for (let i = 0; i < written; i++)
    await sender.send('POST', '/api/v1/namespaces', { metadata: { name: namespace(i) } });
  for (let i = 0; i < 2; i++) replicas.push(await postgres.createStandby());
  for (const replica of replicas) await replica.caughtUp();
  const urlOf = ({ port }: TestStandby) => {
    const url = new URL(databaseUrl);
    url.port = String(port);
    return url.href;
  };
  const columns = ['watches on', 'primary %', 'replicas %', 'writing server %', 'watched servers %', 'events'];
  console.log(`| ${[...columns, 'age p50 ms', 'p99 ms'].join(' | ')} |\n|${' --- |'.repeat(columns.length + 2)}`);
  const scene = { cluster, replicas, sender };
  for (const stage of flags.only.split(',')) {
    const readers: TestServer[] = [];
    if (stage !== 'none') {
      for (const replica of replicas) {
        const more = stage === 'replicas' ? [`--read-database-url=${urlOf(replica)}`] : [];
        readers.push(await cluster.addServer(undefined, [...readerFlags, ...more]));
      }
    }
    await measure(stage, scene, readers);
    for (const reader of readers) {
      cluster.servers.splice(cluster.servers.indexOf(reader), 1);
      await reader.stop('SIGKILL');
    }
  }
  sender.close();
} finally {
  for (const replica of replicas) await replica.stop();
  await cluster.stop();
}
process.exit();
