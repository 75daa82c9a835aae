import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { Load } from './growth/load.js';
import { podJson } from './pod-json.js';

/*
 * Whether the database stays as large as it is while pods come, change and go: --pods of them live at any time, each is
 * created, patched eight times and deleted. Durable, with the shortest --watch-history (five minutes), and whatever settings
 * PostgreSQL comes with (PLINTH_TEST_POSTGRES_BIN: another one). Prints the sizes every 30 s.
 *   --minutes 10    how long
 *   --pods 2000
 *   --rate 200      writes per second
 */
const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    pods: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '200' },
  },
});
const patches = 8;
const pods = Number(flags.pods);
const rate = Number(flags.rate);
const path = '/api/v1/namespaces/default/pods';

const cluster = await TestCluster.start({ servers: 1, fsync: true, flags: ['--watch-history=5m'] });
const admin = new pg.Client({ connectionString: cluster.databaseUrl });
await admin.connect();
const load = new Load(cluster.first.url, cluster.pki.authority, tokens.admin);
let writes = 0;

async function report(seconds: number): Promise<void> {
  const { rows } = await admin.query<Record<string, string>>(`
    select pg_database_size(current_database()) / 1048576.0 as "database MiB",
      pg_relation_size('plinth.objects') / 1048576.0 as "objects MiB",
      pg_indexes_size('plinth.objects') / 1048576.0 as "index MiB",
      pg_relation_size(c.reltoastrelid) / 1048576.0 as "toast MiB",
      (select count(*) from pg_inherits i where i.inhparent = 'plinth.changes'::regclass) as partitions,
      (select sum(pg_total_relation_size(i.inhrelid)) / 1048576.0 from pg_inherits i
        where i.inhparent = 'plinth.changes'::regclass) as "log MiB",
      s.n_live_tup as live, s.n_dead_tup as dead, s.autovacuum_count as vacuums,
      s.n_tup_hot_upd::float / greatest(1, s.n_tup_upd) as hot,
      (select count(*) from plinth.version_times) as times, (select count(*) from plinth.fenced_batches) as fenced
    from pg_stat_user_tables s join pg_class c on c.oid = s.relid where s.relid = 'plinth.objects'::regclass`);
  const figures = Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Math.round(Number(value) * 100) / 100]);
  console.log(JSON.stringify({ seconds: Math.round(seconds), writes, ...Object.fromEntries(figures) }));
}

try {
  const began = performance.now();
  const end = began + Number(flags.minutes) * 60_000;
  /** Waits for the next write's turn. */
  const turn = async () => {
    writes += 1;
    const wait = began + (writes * 1000) / rate - performance.now();
    if (wait > 0) await delay(wait);
  };
  let serial = 0;
  const life = async () => {
    const name = `churn-${++serial}`;
    const { spec } = JSON.parse(podJson(name, serial));
    await turn();
    await load.send('POST', path, 201, JSON.stringify({ metadata: { name, labels: { app: 'churn' } }, spec }));
    for (let i = 0; i < patches; i++) {
      await turn();
      const body = JSON.stringify({ metadata: { annotations: { turn: `${i} ${performance.now()}` } } });
      await load.send('PATCH', `${path}/${name}`, 200, body);
    }
    // A pod stays until this many others have been created.
    while (performance.now() < end && serial < Number(name.slice(6)) + pods) await delay(250);
    await turn();
    await load.send('DELETE', `${path}/${name}?gracePeriodSeconds=0`, 200);
  };
  const lives = new Set<Promise<void>>();
  let next = began;
  while (performance.now() < end) {
    // Sixteen pods at a time receive writes; the others wait for their end.
    const writing = Math.min(16 + pods, lives.size + 16);
    while (lives.size < writing) {
      const one = life();
      lives.add(one);
      void one.catch((error: unknown) => console.error(error)).finally(() => lives.delete(one));
    }
    if (performance.now() >= next) {
      await report((performance.now() - began) / 1000);
      next += 30_000;
    }
    await delay(((16 * (patches + 2)) / rate) * 1000);
  }
  await report((performance.now() - began) / 1000);
} finally {
  await admin.end();
  load.close();
  await cluster.stop();
}
