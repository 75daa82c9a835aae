import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { createPostgresStorage, type PostgresStorage } from '../../src/storage/postgres/postgres-storage.js';
import { put, remove } from '../../src/storage/testing/storage-helpers.js';
import { eventually } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';
import { mainFile } from '../support/main-file.js';
import { startTestPostgres, type TestPostgres } from '../support/test-postgres.js';

/*
 * A logical replica in a PostgreSQL of its own, kept by a real process: the views, rows and past there equal the objects of
 * the primary, while both the process and the PostgreSQL of the replica are killed and the schema changes. On our
 * PostgreSQL, on Debian's with the settings it comes with, and from the one to the other. `npm run check:replica`.
 */

const debian = '/usr/lib/postgresql/15/bin';
const pairs = [
  // Or the one whose programs are named.
  {
    name: 'PostgreSQL of Plinth',
    primary: process.env.PLINTH_TEST_POSTGRES_BIN ?? '',
    replica: process.env.PLINTH_TEST_POSTGRES_BIN ?? '',
  },
  ...(existsSync(debian)
    ? [
        { name: "Debian's PostgreSQL as it comes", primary: debian, replica: debian },
        { name: "from Debian's PostgreSQL to that of Plinth", primary: debian, replica: '' },
      ]
    : []),
];
const value = 'c3VwZXItc2VjcmV0';
const keyOf = (name: string, resource = 'pods') => ({ resource, namespace: 'default', name });

function podText(phase: string): string {
  const metadata = { name: 'x', labels: { app: 'web' }, creationTimestamp: '2026-01-02T03:04:05Z' };
  const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'img:1' }] };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: { phase } });
}

function secretText(): string {
  const metadata = { name: 's', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': value } };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, data: { key: value }, type: 'Opaque' });
}

/** A definition of `things.example.com` that is in force. */
function definitionText(): string {
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
  };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  const condition = (type: string) => ({
    type,
    status: 'True',
    reason: 'x',
    message: '',
    lastTransitionTime: '2026-01-02T03:04:05Z',
  });
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.example.com', uid: 'd1', creationTimestamp: '2026-01-02T03:04:05Z' },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions, conversion: { strategy: 'None' } },
    status: {
      conditions: [condition('NamesAccepted'), condition('Established')],
      acceptedNames: names,
      storedVersions: ['v1'],
    },
  });
}

/** The primary with its writers, and the replica. */
class Scene {
  private process: ChildProcess | undefined;
  private log = '';

  constructor(
    readonly primary: TestPostgres,
    readonly primaryUrl: string,
    readonly storage: PostgresStorage,
    readonly replica: TestPostgres,
    readonly replicaUrl: string,
  ) {}

  /** Starts `plinth replica`. */
  start(...flags: string[]): void {
    const usual = ['--sql-projection=tables', '--history-retention=24h', '--log-format=text'];
    const child = spawn(
      process.execPath,
      [mainFile, 'replica', '--database-url', this.replicaUrl, ...usual, ...flags],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    endWithUs(child, 'KILL');
    child.stderr?.on('data', (chunk: Buffer) => {
      this.log = (this.log + chunk.toString()).slice(-4000);
    });
    this.process = child;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  async ask(sql: string, url = this.replicaUrl): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Waits until the rows of the replica show everything that the primary has. */
  async caughtUp(view = 'pods'): Promise<void> {
    const head = await this.storage.head();
    await eventually(
      async () => {
        const [row] = await this.ask(
          `select pg_get_viewdef(to_regclass('cluster.${view}')) like '%rows_%' as yes from plinth.projection`,
        ).catch(() => []);
        return row?.yes === true;
      },
      `rows on the replica`,
      120_000,
    );
    await this.ask(`select cluster.wait_for(${head}, '2 minutes')`);
  }

  /** Fails unless the replica shows what the primary has. */
  async equal(): Promise<void> {
    await this.caughtUp();
    const { items } = await this.storage.list({ resource: 'pods' });
    const stored = items.map(({ key, resourceVersion, json }) => [key.name, String(resourceVersion), JSON.parse(json)]);
    const rows = await this.ask(`select name, resource_version, object #- '{metadata,resourceVersion}' as object
      from cluster.pods order by name collate "C"`);
    assert.deepEqual(
      rows.map((row) => Object.values(row)),
      stored,
    );
  }
}

/** Writes until the work is done. */
async function whileWriting(storage: PostgresStorage, work: () => Promise<void>): Promise<void> {
  let writing = true;
  const writer = (async () => {
    for (let i = 0; writing; i++) {
      const key = keyOf(`p${i % 50}`);
      if (i % 9 === 8) await remove(storage, key).catch(() => undefined);
      else {
        await storage.guaranteedUpdate(key, { ignoreNotFound: true }, (current) => ({
          kind: 'write',
          json: podText(`Phase${i}`),
          uid: current?.uid ?? `u${i}`,
        }));
      }
    }
  })();
  try {
    await work();
  } finally {
    writing = false;
    await writer;
  }
}

for (const pair of pairs) {
  describe(`a logical replica: ${pair.name}`, { timeout: 600_000 }, () => {
    let scene: Scene;
    before(async () => {
      const settings = { wal_level: 'logical' };
      const primary = await startTestPostgres({ fsync: false, programs: pair.primary, settings });
      const replica = await startTestPostgres({ fsync: false, programs: pair.replica });
      const primaryUrl = await primary.createTestDatabase();
      const storage = await createPostgresStorage({ databaseUrl: primaryUrl, retentionIntervalMs: 0 });
      scene = new Scene(primary, primaryUrl, storage, replica, await replica.createTestDatabase());
    });
    after(async () => {
      await scene.end('SIGKILL');
      await scene.storage.stop();
      await scene.replica.stop();
      await scene.primary.stop();
    });

    it('shows what was there and what comes, also of kinds that are added', async () => {
      const { storage } = scene;
      await storage.create(keyOf('old'), 'u0', podText('Pending'));
      await storage.create(keyOf('s', 'secrets'), 'u1', secretText());
      await storage.create(
        { resource: 'customresourcedefinitions.apiextensions.k8s.io', namespace: '', name: 'things.example.com' },
        'd1',
        definitionText(),
      );
      await storage.create(
        keyOf('t', 'things.example.com'),
        'u2',
        '{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":3}}',
      );
      scene.start('--primary-database-url', scene.primaryUrl);
      await scene.equal();
      await put(storage, keyOf('old'), podText('Running'));
      await storage.create(keyOf('new'), 'u3', podText('Pending'));
      await scene.equal();
      await scene.caughtUp('things');
      assert.deepEqual(await scene.ask(`select name, spec from cluster.things where spec @> '{"size": 3}'`), [
        { name: 't', spec: { size: 3 } },
      ]);
    });

    it('shows the past', async () => {
      const { storage } = scene;
      const version = await storage.head();
      await remove(storage, keyOf('new'));
      await put(storage, keyOf('old'), podText('Succeeded'));
      await scene.caughtUp();
      assert.deepEqual(
        await scene.ask(
          `select name, object #>> '{status,phase}' as phase from cluster.as_of('pods', ${version}::bigint) order by 1`,
        ),
        [
          { name: 'new', phase: 'Pending' },
          { name: 'old', phase: 'Running' },
        ],
      );
      const history = await scene.ask(
        `select verb, object #>> '{status,phase}' as phase from cluster.history('pods', 'default', 'old')`,
      );
      assert.deepEqual(
        history.slice(-2).map(({ verb, phase }) => [verb, phase]),
        [
          ['updated', 'Running'],
          ['updated', 'Succeeded'],
        ],
      );
    });

    it('keeps its own rules for secrets, with roles of its own', async () => {
      await scene.ask(`create role reader_of_replica login; grant plinth_reader to reader_of_replica`);
      const asReader = new URL(scene.replicaUrl);
      asReader.username = 'reader_of_replica';
      const [secret] = await scene.ask('select name, data_keys, object from cluster.secrets', asReader.href);
      assert.deepEqual([secret?.name, secret?.data_keys], ['s', ['key']]);
      assert.ok(!JSON.stringify(secret).includes(value));
      const past = await scene.ask(`select * from cluster.history('secrets', 'default', 's')`, asReader.href);
      assert.ok(past.length > 0 && !JSON.stringify(past).includes(value));
      for (const table of ['objects', 'changes', 'replica', 'projected_tables']) {
        await assert.rejects(scene.ask(`select * from plinth.${table}`, asReader.href), { code: '42501' });
      }
      await assert.rejects(scene.ask('select subconninfo from pg_subscription', asReader.href), { code: '42501' });
    });

    it('takes no writes of its own', async () => {
      const own = await createPostgresStorage({
        databaseUrl: scene.replicaUrl,
        retentionIntervalMs: 0,
        writeWaitMs: 500,
      });
      try {
        await assert.rejects(own.create(keyOf('mine'), 'u', podText('x')));
      } finally {
        await own.stop();
      }
      await assert.rejects(scene.ask('select plinth.check_writes()'), { code: '25006' });
    });

    it('catches up when its process and its PostgreSQL die, and while parts of the log begin', async () => {
      const closePart = () =>
        scene.ask(`select * from plinth.keep_changes('1 hour', '-1 second', 3)`, scene.primaryUrl);
      await whileWriting(scene.storage, async () => {
        for (let round = 0; round < 3; round++) {
          await scene.end('SIGKILL');
          await closePart();
          if (round === 1) await scene.replica.shutDown('immediate');
          for (let i = 0; i < 4; i++) await closePart();
          if (round === 1) await scene.replica.startAgain();
          scene.start();
          await scene.caughtUp();
        }
        await scene.replica.shutDown('fast');
        await scene.replica.startAgain();
        await scene.caughtUp();
      });
      await scene.equal();
    });

    it('stops for a column that it lacks, and goes on when it has it', async () => {
      await scene.ask('alter table plinth.objects add column extra text', scene.primaryUrl);
      await put(scene.storage, keyOf('old'), podText('WithColumn'));
      await eventually(async () => {
        const [row] = await scene.ask(`select count(*)::int as count from pg_stat_subscription where pid is not null`);
        return row?.count === 0;
      }, 'the replica stops');
      await scene.ask('alter table plinth.objects add column extra text');
      await scene.equal();
    });

    it('drops old parts of the log by itself, and begins its past there', async () => {
      const [before] = await scene.ask('select count(*)::int as count from plinth.change_partitions');
      await scene.ask(`select * from plinth.keep_changes('0', '1 hour', 3)`);
      // The process copies to the history what it may drop, and drops it.
      await eventually(
        async () => {
          const [row] = await scene.ask('select count(*)::int as count from plinth.change_partitions');
          return Number(row?.count) < Number(before?.count);
        },
        'parts are dropped',
        60_000,
      );
      const [size] = await scene.ask('select partitions::int as partitions from cluster.history_size()');
      assert.ok(Number(size?.partitions) > 0);
      await put(scene.storage, keyOf('old'), podText('Later'));
      await scene.equal();
      const history = await scene.ask(
        `select version::text, object #>> '{status,phase}' as phase from cluster.history('pods', 'default', 'old')`,
      );
      assert.deepEqual(
        history
          .map(({ phase }) => phase)
          .filter((phase) => phase !== 'Pending')
          .slice(0, 2),
        ['Running', 'Succeeded'],
      );
    });
  });
}

describe('a logical replica without secrets', { timeout: 300_000 }, () => {
  it('never has them, and needs no rights of the owner', async () => {
    const primary = await startTestPostgres({ fsync: false, settings: { wal_level: 'logical' } });
    const replica = await startTestPostgres({ fsync: false });
    const primaryUrl = await primary.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl: primaryUrl, retentionIntervalMs: 0 });
    const scene = new Scene(primary, primaryUrl, storage, replica, await replica.createTestDatabase());
    try {
      await storage.create(keyOf('before', 'secrets'), 'u1', secretText());
      await storage.create(keyOf('p'), 'u2', podText('Running'));
      const statements = `create role follower login replication; grant usage on schema plinth to follower;
        grant select on plinth.objects, plinth.changes, plinth.change_partitions to follower;
        select plinth.publish('{secrets}')`;
      await scene.ask(statements, primaryUrl);
      const asFollower = new URL(primaryUrl);
      asFollower.username = 'follower';
      scene.start('--primary-database-url', asFollower.href);
      await scene.caughtUp();
      await storage.create(keyOf('after', 'secrets'), 'u3', secretText());
      await put(storage, keyOf('before', 'secrets'), secretText());
      await remove(storage, keyOf('before', 'secrets'));
      await put(storage, keyOf('p'), podText('Succeeded'));
      await scene.equal();
      await assert.rejects(scene.ask('select * from plinth.server_keys', asFollower.href), { code: '42501' });
      assert.deepEqual(
        await scene.ask(`select (select count(*) from plinth.objects where resource = 'secrets')::int as objects,
        (select count(*) from plinth.changes where resource = 'secrets')::int as changes`),
        [{ objects: 0, changes: 0 }],
      );
    } finally {
      await scene.end('SIGKILL');
      await storage.stop();
      await replica.stop();
      await primary.stop();
    }
  });
});
