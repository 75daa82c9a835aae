import { parseArgs } from 'node:util';
import { withClient } from '../src/base/database/with-client.js';
import { eventually, TestCluster } from '../test/e2e/support/test-cluster.js';
import { podJson } from './pod-json.js';

/*
 * What objects take in the database, and how much write-ahead log each write makes, without and with history and rows. A
 * checkpoint comes before each kind of write, so the figures have the full pages that a write after it makes.
 * `npm run bench:sizes -- [flags]`
 *   --pods N            pods, and as many leases (default 3,000)
 *   --clients N         requests under way (default 8)
 *   --postgres FOLDER   programs of a PostgreSQL that runs with the settings it comes with (default: Debian's 15)
 */
const { values: flags } = parseArgs({
  options: {
    pods: { type: 'string', default: '3000' },
    clients: { type: 'string', default: '8' },
    postgres: { type: 'string', default: '/usr/lib/postgresql/15/bin' },
  },
});
const [count, clients] = [Number(flags.pods), Number(flags.clients)];
const pods = '/api/v1/namespaces/default/pods';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

/** Does something for each number, some at a time. */
async function each(work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    for (let i = next++; i < count; i = next++) await work(i);
  };
  await Promise.all(Array.from({ length: clients }, run));
}

/** A pod as it is created, and the status that its agent writes. */
function podOf(i: number): { readonly created: object; readonly status: object } {
  const { metadata, spec, status } = JSON.parse(podJson(`pod-${i}`, i));
  delete metadata.uid;
  for (const condition of status.conditions) delete condition.lastProbeTime;
  const containerStatuses = status.containerStatuses.map((one: object) => ({
    ...one,
    image: 'registry.example.com/team/application:v1',
    imageID: '',
    restartCount: 0,
    state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
    lastState: {},
  }));
  return {
    created: { apiVersion: 'v1', kind: 'Pod', metadata, spec },
    status: { status: { ...status, containerStatuses } },
  };
}

const lease = (i: number, renewTime: string) => ({
  metadata: { name: `node-${i}` },
  spec: { holderIdentity: `node-${i}`, leaseDurationSeconds: 40, renewTime },
});

async function measure(title: string, more: readonly string[]): Promise<void> {
  const hasRows = more.length > 0;
  const cluster = await TestCluster.start({
    servers: 1,
    accounts: false,
    programs: flags.postgres,
    flags: more,
    // Rows are kept by a loop; the others would write as well.
    controllers: hasRows,
    controllerFlags: ['--controllers=sql-views,sql-projection', ...more],
  });
  const { client } = cluster.first;
  const ask = async (sql: string): Promise<number> => {
    const answer = await withClient(cluster.databaseUrl, (database) => database.query({ text: sql, rowMode: 'array' }));
    return Number((answer.rows as unknown[][])[0]?.[0]);
  };
  const must = (expected: number, { status, text }: { readonly status: number; readonly text: string }) => {
    if (status !== expected) throw new Error(`${status} ${text.slice(0, 300)}`);
  };
  const size = (tables: string) =>
    ask(`select coalesce(sum(pg_total_relation_size(c.oid)), 0) from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname = 'plinth' and relkind in ('r', 'p') and relname ~ '${tables}'`);
  /** Rows are written a moment later. */
  const followed = async () => {
    if (!hasRows) return;
    const head = await ask('select head from plinth.log_bounds()');
    await withClient(cluster.databaseUrl, (database) =>
      database.query(`select cluster.wait_for(${head}, '2 minutes')`),
    );
  };
  const step = async (name: string, work: (i: number) => Promise<void>): Promise<void> => {
    await withClient(cluster.postgres.adminUrl, (admin) => admin.query('checkpoint'));
    const before = await ask(`select pg_current_wal_insert_lsn() - '0/0'`);
    await each(work);
    await followed();
    const bytes = (await ask(`select pg_current_wal_insert_lsn() - '0/0'`)) - before;
    console.log(`| ${title} | ${name} | ${(bytes / count / 1000).toFixed(1)} kB |`);
  };
  const rowsFollow = async () => {
    const filled = async () =>
      (await ask(`select count(*) from cluster.pods`)) === count && (await size('^rows_pods_')) > 0;
    if (hasRows) await eventually(filled, 'rows of all pods', 120_000);
  };
  try {
    await step('create', async (i) => must(201, await client.post(pods, podOf(i).created)));
    await step('change of the status', async (i) =>
      must(200, await client.patch(`${pods}/pod-${i}/status`, 'strategic-merge', podOf(i).status)),
    );
    await rowsFollow();
    const { text } = await client.get(`${pods}/pod-1`);
    await withClient(cluster.databaseUrl, (database) => database.query('vacuum full plinth.objects'));
    const sizes = { object: await size('^objects$'), log: await size('^changes'), rows: await size('^rows_pods_') };
    const kB = (bytes: number) => `${(bytes / count / 1000).toFixed(1)} kB`;
    console.log(
      `| ${title} | sizes for a pod of ${text.length} bytes of JSON | object ${kB(sizes.object)}, change log of both writes ${kB(sizes.log)}, rows ${kB(sizes.rows)} |`,
    );
    await each(async (i) => must(201, await client.post(leases, lease(i, '2026-01-01T00:00:00.000000Z'))));
    await step('renewal of a lease', async (i) => {
      const renewed = { spec: { renewTime: '2026-01-01T00:00:10.000000Z' } };
      must(200, await client.patch(`${leases}/node-${i}`, 'merge', renewed));
    });
    await step('delete', async (i) => must(200, await client.delete(`${pods}/pod-${i}?gracePeriodSeconds=0`)));
  } finally {
    await cluster.stop();
  }
}

console.log('| Settings | Write | Log for each |\n| --- | --- | --- |');
await measure('plain', []);
await measure('history and rows', ['--history-retention=24h', '--sql-projection=tables']);
process.exit();
