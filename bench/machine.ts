import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { type Wall, wallsOf } from './machine/part.js';
import { partsOf } from './machine/parts-of.js';
import { type LoadOptions, runWork } from './peers/load.js';
import type { Peer } from './peers/peer.js';
import { allUp } from './workers/all-up.js';

/*
 * What would end growth on a machine with more processors than this one: the processor time of each part of one request,
 * and from it the most requests per second that each part allows. A part that is one thread (the parent of the workers,
 * a session of the database) is busy all the time at 1,000,000 us a second, all together at as many as there are
 * processors. `npm run bench:machine -- --loadgen FILE [flags]`
 *   --processors N   of the machine that is imagined (default 16)
 *   --workers a,b    numbers of workers (default that of the processors); 1 is a server without workers
 *   --clients N      connections for each worker (default 16)
 *   --seconds N      of each kind of work (default 5)
 *   --warm N         seconds before that (default 8)
 *   --objects N      Pods to read (default 4,000)
 *   --works a,b      of create, preload (creates of Pods), get, update, put (default create,preload,get,update)
 *   --flag F         of the server; repeatable
 *   --postgres FOLDER  programs of another PostgreSQL than the embedded one, which has no lz4: large installations do
 * Where more processes than processors take turns, each finds caches that another one has filled, so that a request
 * costs more here than there.
 */
const { values: flags } = parseArgs({
  options: {
    loadgen: { type: 'string' },
    processors: { type: 'string', default: '16' },
    workers: { type: 'string' },
    clients: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '5' },
    warm: { type: 'string', default: '8' },
    objects: { type: 'string', default: '4000' },
    works: { type: 'string', default: 'create,preload,get,update' },
    flag: { type: 'string', multiple: true, default: [] },
    postgres: { type: 'string', default: '' },
  },
});
if (flags.loadgen === undefined) throw new Error('--loadgen names the load generator');
const program = resolve(flags.loadgen);
const processors = Number(flags.processors);

function report(work: string, workers: number, perSecond: number, walls: readonly Wall[]): void {
  console.log(`\n${work}, ${workers} workers: ${perSecond.toFixed(0)} a second here\n`);
  console.log(`| Part | us for each | most a second on ${processors} processors |`);
  console.log('| --- | ---: | ---: |');
  for (const { name, isAlone, each, most } of walls) {
    if (each < 0.5) continue;
    console.log(
      `| ${name}${isAlone ? ' (one)' : ''} | ${each.toFixed(1)} | ${Math.round(most).toLocaleString('en')} |`,
    );
  }
}

async function measure(workers: number): Promise<void> {
  const cluster = await TestCluster.start({
    servers: 0,
    fsync: true,
    programs: flags.postgres,
    flags: ['--authorization-mode=Node,RBAC', ...(workers > 1 ? [`--workers=${workers}`] : []), ...flags.flag],
  });
  const admin = new pg.Client({ connectionString: cluster.databaseUrl });
  try {
    const server = await cluster.addServer();
    await admin.connect();
    if (workers > 1) await allUp(server, workers);
    const pid = server.process.pid as number;
    const peer: Peer = {
      url: server.url,
      token: tokens.admin,
      roots: { server: [pid], store: [] },
      stop: () => cluster.stop(),
    };
    const load: LoadOptions = {
      program,
      objects: Number(flags.objects),
      seconds: Number(flags.seconds),
      http2: false,
      namespace: 'bench',
      clients: Number(flags.clients) * workers,
    };
    for (const work of flags.works.split(',')) {
      await runWork(peer, work, { ...load, namespace: 'warm', seconds: Number(flags.warm) });
      const before = await partsOf(pid, admin);
      const { count, perSecond } = await runWork(peer, work, load);
      report(work, workers, perSecond, wallsOf(before, await partsOf(pid, admin), count, processors));
    }
  } finally {
    await admin.end();
    await cluster.stop();
  }
}

for (const workers of (flags.workers ?? flags.processors).split(',')) await measure(Number(workers));
