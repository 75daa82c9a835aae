import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { Logger } from '../../../base/observability/logger.js';
import { createPostgresStorage, type PostgresStorage } from '../../../storage/postgres/postgres-storage.js';
import type { Storage } from '../../../storage/storage.interface.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import { collectUpTo, put } from '../../../storage/testing/storage-contract.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { EventTtlController } from './event-ttl.controller.js';

const ttlMs = 3_600_000;
const event = (name: string, namespace = 'default'): StorageKey => ({ resource: 'events', namespace, name });

describe('the time to live of events', () => {
  let server: TestPostgres;
  let client: pg.Client;
  let storage: PostgresStorage;
  let timers: ManualTimers;

  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  beforeEach(async () => {
    const databaseUrl = await server.createTestDatabase();
    storage = await createPostgresStorage({ databaseUrl, retentionIntervalMs: 0 });
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    timers = new ManualTimers();
  });
  afterEach(async () => {
    await client.end();
    await storage.stop();
  });
  /** Makes everything written so far this old. */
  const age = async (milliseconds: number): Promise<void> => {
    await client.query(
      `insert into plinth.version_times (at, version)
       select now() - $1 * interval '1 millisecond', head from plinth.log_bounds()`,
      [milliseconds],
    );
  };
  /** Runs one round and stops. */
  const round = async (options: { store?: Storage; mostPerRound?: number; scan?: number } = {}): Promise<void> => {
    const stop = new AbortController();
    const controller = new EventTtlController({
      storage: options.store ?? storage,
      logger: new Logger('error', 'text'),
      timers,
      random: () => 0.5,
      ttlMs,
      ...options,
    });
    const waits = timers.nextWait();
    const running = controller.run(stop.signal);
    await waits;
    stop.abort();
    await running;
  };
  const names = async (resource: string): Promise<string[]> =>
    (await storage.list({ resource })).items.map(({ key }) => key.name);

  it('deletes only events that were not written for that long, visibly for watches', async () => {
    for (const name of ['a', 'b', 'renewed']) await storage.create(event(name), `u-${name}`, `"${name}"`);
    await storage.create(event('c', 'other'), 'u-c', '"c"');
    await storage.create({ resource: 'pods', namespace: 'default', name: 'old' }, 'u', '{}');
    await age(ttlMs + 1_000);
    await put(storage, event('renewed'), '"again"');
    await storage.create(event('young'), 'u-young', '"young"');
    await age(ttlMs - 60_000);
    const from = await storage.head();
    const watch = await storage.watch({ resource: 'events' }, from);
    await round();
    assert.deepEqual(await names('events'), ['renewed', 'young']);
    assert.deepEqual(await names('pods'), ['old']);
    const changes = await collectUpTo(watch, await storage.head());
    // Writes of several namespaces take turns, so only the set of deletions is certain.
    assert.deepEqual(
      changes
        .map((change) => [change.type, change.key.name, change.json])
        .sort(([, one = ''], [, other = '']) => (one < other ? -1 : 1)),
      [
        ['delete', 'a', '"a"'],
        ['delete', 'b', '"b"'],
        ['delete', 'c', '"c"'],
      ],
    );
    watch.close();
  });

  it('looks for old events as often as they may outlive their time, and more often where that is short', async () => {
    for (const [ttl, lag, random, expected] of [
      [ttlMs, undefined, 0, 60_000],
      [ttlMs, 10_000, 0, 10_000],
      [ttlMs, 10_000, 1, 5_000],
      [30_000, 60_000, 0, 3_000],
      [1_000, 60_000, 0, 1_000],
    ] as const) {
      const stop = new AbortController();
      const waited = new Promise<number>((resolve) => {
        const patient = {
          now: () => timers.now(),
          elapsed: () => timers.elapsed(),
          wait: async (milliseconds: number) => {
            resolve(milliseconds);
            stop.abort();
          },
        };
        const options = { storage, logger: new Logger('error', 'text'), timers: patient, random: () => random };
        void new EventTtlController({ ...options, ttlMs: ttl, longestPauseMs: lag }).run(stop.signal);
      });
      assert.equal(await waited, expected);
    }
  });

  it('knows no ages before the first recorded time, and keeps everything', async () => {
    await storage.create(event('a'), 'u', '1');
    await round();
    assert.deepEqual(await names('events'), ['a']);
  });

  it('works page by page, and continues in the next round where the limit stopped it', async () => {
    await Promise.all(Array.from({ length: 90 }, (_, i) => storage.create(event(`n${100 + i}`), `u${i}`, '1')));
    await age(ttlMs);
    const stop = new AbortController();
    const controller = new EventTtlController({
      storage,
      logger: new Logger('error', 'text'),
      timers,
      random: () => 0.5,
      ttlMs,
      mostPerRound: 40,
      scan: 20,
    });
    let waits = timers.nextWait();
    const running = controller.run(stop.signal);
    const left: number[] = [];
    for (let i = 0; i < 6; i++) {
      await waits;
      left.push((await names('events')).length);
      waits = timers.nextWait();
      timers.advance(60_000);
    }
    // Pages of 20: every second page ends a round, and the next round continues after it.
    assert.deepEqual(left.slice(0, 5), [70, 50, 50, 30, 10]);
    stop.abort();
    await running;
  });

  it('spares an event that is written between the check and the deletion', async () => {
    await storage.create(event('a'), 'u', '1');
    await age(ttlMs);
    const racing: Storage = Object.create(storage, {
      aged: {
        value: async (query: Parameters<Storage['aged']>[0]) => {
          const page = await storage.aged(query);
          await put(storage, event('a'), '2');
          return page;
        },
      },
      guaranteedUpdate: { value: storage.guaranteedUpdate.bind(storage) },
    });
    await round({ store: racing });
    assert.equal((await storage.get(event('a')))?.json, '2');
  });

  it('records the time of versions itself when younger objects are requested', async () => {
    await storage.create(event('a'), 'u', '1');
    const deadline = performance.now() + 60_000;
    for (;;) {
      const { items } = await storage.aged({ resource: 'events', ageMs: 50, scan: 10 });
      if (items.length === 1) break;
      assert.ok(performance.now() < deadline);
    }
  });
});
