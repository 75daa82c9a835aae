import pg from 'pg';
import type { PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { resolveOptions } from '../../src/storage/postgres/postgres-storage-options.js';
import { Retention } from '../../src/storage/postgres/retention.js';
import { SessionPool } from '../../src/storage/postgres/session-pool.js';
import type { ExampleCluster, ExampleObject } from './example-objects.js';

const dayMs = 86_400_000;
const inFlight = 500;

/**
 * Loads the example cluster through the storage, then its past: changes of pods in four steps, the first three moved to the
 * history as log upkeep does, the last one in the log. A trigger gives the changes their times: the cluster is made eight
 * hours ago, and each step begins two hours after the one before; the last one is half an hour old.
 *
 * @param changesPerStep how many writes to pods each step has
 */
export async function loadExample(
  databaseUrl: string,
  storage: PostgresStorage,
  cluster: ExampleCluster,
  changesPerStep: number,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const options = resolveOptions({ databaseUrl, retentionIntervalMs: 0, historyRetentionMs: dayMs });
  const pool = new SessionPool(options);
  const retention = new Retention(options, pool);
  const shiftTo = async (minutes: number): Promise<void> => {
    await client.query('update bench.shift set minutes = $1', [minutes]);
    await client.query(
      `insert into bench.version_times (at, version) select clock_timestamp() - make_interval(mins => $1), b.head
       from plinth.log_bounds() b`,
      [minutes],
    );
  };
  const retire = async (): Promise<void> => {
    await retention.round(dayMs, 0);
    await retention.round(0, dayMs);
  };
  try {
    await client.query(`create schema bench;
      create table bench.shift (minutes int);
      insert into bench.shift values (0);
      create table bench.version_times (at timestamptz, version bigint);
      create function bench.shift() returns trigger language plpgsql as $$ begin
        new.at := new.at - make_interval(mins => (select s.minutes from bench.shift s)); return new; end $$;
      create trigger shift before insert on plinth.changes for each row execute function bench.shift()`);
    await retention.round(dayMs, dayMs);
    await shiftTo(480);
    await each(cluster.others(), (one) => create(storage, one));
    await each(pods(cluster), (one) => create(storage, one));
    await retire();
    for (const [step, minutes] of [360, 240, 120, 30].entries()) {
      await shiftTo(minutes);
      await change(storage, cluster, step + 1, changesPerStep);
      if (minutes > 30) await retire();
    }
    // Log upkeep noted versions at the time of the load.
    await client.query('truncate plinth.version_times');
    await client.query(
      'insert into plinth.version_times (at, version) select v.at, v.version from bench.version_times v',
    );
    await client.query('drop schema bench cascade');
    await client.query('vacuum analyze');
  } finally {
    await pool.stop();
    await client.end();
  }
}

function* pods(cluster: ExampleCluster): Generator<ExampleObject> {
  for (let i = 0; i < cluster.podCount; i++) yield cluster.pod(i);
}

/**
 * Status of pods, a hundred of them deleted and created again; the deployment `web` is scaled and gets another image.
 */
async function change(storage: PostgresStorage, cluster: ExampleCluster, step: number, count: number): Promise<void> {
  await update(
    storage,
    cluster.web(step * 10, `registry.example.com/web:v${step}`, step % 2 === 0 ? 'helm' : 'kubectl'),
  );
  const chosen = function* (): Generator<ExampleObject> {
    for (let i = 0; i < count; i++) yield cluster.pod((i * 7919 + step) % cluster.podCount, step);
  };
  await each(chosen(), (one) => update(storage, one));
  for (let i = 0; i < 100; i++) {
    const one = cluster.pod((i * 211 + step) % cluster.podCount, step);
    await storage.guaranteedUpdate(one, { ignoreNotFound: true }, (current) => ({
      kind: 'delete',
      json: current?.json ?? '',
    }));
    if (i % 2 === 0) await create(storage, { ...one, uid: `${one.uid.slice(0, -1)}x` });
  }
}

function create(storage: PostgresStorage, one: ExampleObject): Promise<unknown> {
  return storage.create(one, one.uid, JSON.stringify(one.object));
}

function update(storage: PostgresStorage, one: ExampleObject): Promise<unknown> {
  return storage.guaranteedUpdate(one, { ignoreNotFound: true }, (current) => ({
    kind: 'write',
    json: JSON.stringify(one.object),
    uid: current?.uid ?? one.uid,
  }));
}

/** Works on all of them, a few hundred at a time: storage writes what comes together in one batch. */
async function each<T>(all: Iterable<T>, work: (one: T) => Promise<unknown>): Promise<void> {
  let some: T[] = [];
  for (const one of all) {
    some.push(one);
    if (some.length < inFlight) continue;
    await Promise.all(some.map(work));
    some = [];
  }
  await Promise.all(some.map(work));
}
