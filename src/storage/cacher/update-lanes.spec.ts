import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import type { Storage, StoredObject, UpdateDecision } from '../storage.interface.js';
import { openCached } from '../testing/cached-scene.js';

const key = { resource: 'counters', namespace: 'default', name: 'one' };

const counted = (current: StoredObject | undefined) => (JSON.parse(current?.json ?? '{"n":0}') as { n: number }).n;

function next(current: StoredObject | undefined): UpdateDecision {
  return { kind: 'write', json: `{"n":${counted(current) + 1}}`, uid: 'u' };
}

const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

describe('updates of one object in one process', () => {
  let server: TestPostgres;
  before(async () => {
    server = await startTestPostgres();
  });
  after(async () => server.stop());

  const withStores = async (use: (cached: Storage, other: Storage) => Promise<void>) => {
    const { cached, other, stop } = await openCached(server);
    try {
      await cached.create(key, 'u', '{"n":0}');
      await use(cached, other);
    } finally {
      await stop();
    }
  };

  it('follow one another, so that the work of none is lost', () =>
    withStores(async (cached) => {
      let rounds = 0;
      const count = (current: StoredObject | undefined) => {
        rounds += 1;
        return next(current);
      };
      await Promise.all(times(60, () => cached.guaranteedUpdate(key, {}, count)));
      assert.equal(counted(await cached.get(key)), 60);
      assert.equal(rounds, 60);
    }));

  it('continue after updates that fail, find nothing to change, or delete the object', () =>
    withStores(async (cached) => {
      const refused = new Error('refused');
      const outcomes = await Promise.allSettled([
        cached.guaranteedUpdate(key, {}, next),
        cached.guaranteedUpdate(key, {}, () => Promise.reject(refused)),
        cached.guaranteedUpdate(key, {}, () => ({ kind: 'unchanged' })),
        cached.guaranteedUpdate(key, {}, next),
        cached.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' })),
        cached.guaranteedUpdate(key, { ignoreNotFound: true }, (current) => {
          assert.equal(current, undefined);
          return { kind: 'write', json: '{"n":7}', uid: 'new' };
        }),
        cached.guaranteedUpdate(key, {}, (current) => ({ ...next(current), uid: 'new' }) as UpdateDecision),
      ]);
      const seen = outcomes.map((outcome) =>
        outcome.status === 'rejected' ? outcome.reason : [outcome.value.outcome, outcome.value.object.json],
      );
      assert.deepEqual(seen, [
        ['written', '{"n":1}'],
        refused,
        ['unchanged', '{"n":1}'],
        ['written', '{"n":2}'],
        ['deleted', '{"n":2}'],
        ['written', '{"n":7}'],
        ['written', '{"n":8}'],
      ]);
    }));

  it('do not wait for one that takes long', () =>
    withStores(async (cached) => {
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const slow = cached.guaranteedUpdate(key, {}, async (current) => {
        await held;
        return next(current);
      });
      const others = await Promise.all(times(20, () => cached.guaranteedUpdate(key, {}, next)));
      assert.equal(others.length, 20);
      assert.equal(counted(await cached.get(key)), 20);
      release();
      assert.equal((await slow).object.json, '{"n":21}');
    }));

  it('lose no write beside those of another process', () =>
    withStores(async (cached, other) => {
      const stores = [cached, other];
      await Promise.all(stores.flatMap((store) => times(25, () => store.guaranteedUpdate(key, {}, next))));
      assert.equal(counted(await other.get(key)), 50);
    }));
});
