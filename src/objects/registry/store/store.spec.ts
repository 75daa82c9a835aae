import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { always, kind, optional, string, struct } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { Storage, StoredObject } from '../../../storage/storage.interface.js';
import { StorageError } from '../../../storage/storage-error.js';
import type { StorageKey } from '../../../storage/storage-key.js';
import { defineResource } from '../resource-definition.js';
import { ResourceRegistry, type StoredServedResource } from '../resource-registry.js';
import type { Strategy } from '../strategy.js';
import { Store } from './store.js';

const noteMeta = struct('test.Meta', { name: optional(1, string) });
const noteKind = kind(
  { group: 'test', version: 'v1', kind: 'Note', scope: 'Namespaced' },
  { metadata: always(1, noteMeta), text: optional(2, string) },
);

let postgres: TestPostgres;
let storage: TestStorage;
before(async () => {
  postgres = await startTestPostgres();
  storage = await openTestStorage(await postgres.createTestDatabase());
});
after(async () => {
  await storage.stop();
  await postgres.stop();
});

const request = { requestInfo: { apiVersion: 'v1' }, warnings: [] } as unknown as RequestContext;
const options = { dryRun: false, validate: async () => {} };

/** Storage in which another writer always takes the name first, `collisions` times. */
function contested(collisions: number): { readonly storage: Storage; readonly keys: StorageKey[] } {
  const keys: StorageKey[] = [];
  const create: Storage['create'] = async (key, uid, json) => {
    keys.push(key);
    if (keys.length <= collisions) await storage.create(key, 'somebody', json);
    return storage.create(key, uid, json);
  };
  const contestedStorage = new Proxy<Storage>(storage, {
    get(target, name) {
      const member: unknown = name === 'create' ? create : Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { storage: contestedStorage, keys };
}

function storeOver(over: Storage, strategy: Strategy = {}): Store {
  const registry = new ResourceRegistry();
  registry.register(
    defineResource({
      group: 'test',
      resource: 'notes',
      singular: 'note',
      kind: 'Note',
      namespaced: true,
      versions: [{ version: 'v1', type: noteKind }],
      strategy,
    }),
  );
  return new Store(registry.findStoredResource('test', 'v1', 'notes') as StoredServedResource, over, systemClock);
}

const note = (metadata: object): ApiObject => ({ metadata: { namespace: 'n', ...metadata }, text: 'x' });

describe('Store.create with generateName', () => {
  it('draws another name while the one drawn is taken', async () => {
    const { storage: over, keys } = contested(7);
    const object = note({ generateName: 'many-' });
    const { json } = await storeOver(over).create(request, object, options);
    assert.equal(keys.length, 8);
    assert.equal(new Set(keys.map(({ name }) => name)).size, 8);
    assert.equal(JSON.parse(json).metadata.name, keys[7]?.name);
    assert.equal(object.metadata.name, keys[7]?.name);
  });

  it('gives up in the end, and says that the client may try again', async () => {
    const { storage: over, keys } = contested(100);
    const error = await storeOver(over)
      .create(request, note({ generateName: 'full-' }), options)
      .catch((thrown: unknown) => thrown);
    assert.ok(error instanceof StatusError);
    assert.equal(error.reason, 'AlreadyExists');
    assert.equal(error.details?.retryAfterSeconds, 1);
    assert.match(error.message, /was not able to generate a unique name/);
    assert.equal(keys.length, 8);
  });

  it('does not draw a name that the client gave', async () => {
    const { storage: over, keys } = contested(1);
    const object = note({ name: 'given', generateName: 'given-' });
    await assert.rejects(storeOver(over).create(request, object, options), StatusError);
    assert.equal(keys.length, 1);
  });

  it('gives back its reservations for a name that was taken', async () => {
    const { storage: over } = contested(2);
    const held = new Set<string>();
    const seen: unknown[] = [];
    const strategy: Strategy = {
      reserveForCreate: async (_context, object) => {
        seen.push(object.number);
        const mine = String(object.metadata.name);
        object.number = seen.length;
        held.add(mine);
        return { commit: async () => {}, rollback: async () => void held.delete(mine) };
      },
    };
    const object = note({ generateName: 'held-' });
    await storeOver(over, strategy).create(request, object, options);
    assert.deepEqual(seen, [undefined, undefined, undefined]);
    assert.deepEqual([...held], [object.metadata.name]);
    assert.equal(object.number, 3);
  });
});

describe('Store.delete of an object with a grace period', () => {
  const graceful: Strategy = { gracePeriodSeconds: (_object, { gracePeriodSeconds }) => gracePeriodSeconds ?? 30 };
  const now = { ...options, gracePeriodSeconds: 0 };
  const key = (name: string): StorageKey => ({ resource: 'notes.test', namespace: 'n', name });

  /** Storage that calls `before` ahead of the second update, which removes the object. */
  function interrupted(before: () => Promise<void>): Storage {
    let updates = 0;
    const guaranteedUpdate: Storage['guaranteedUpdate'] = async (...args) => {
      if (++updates === 2) await before();
      return storage.guaranteedUpdate(...args);
    };
    return new Proxy<Storage>(storage, {
      get(target, name) {
        const member: unknown = name === 'guaranteedUpdate' ? guaranteedUpdate : Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  async function changesOf(name: string, from: bigint, count: number) {
    const stream = await storage.watch({ resource: 'notes.test', namespace: 'n', name }, from);
    const seen: [string, number | undefined][] = [];
    while (seen.length < count) {
      for (const { type, json } of (await stream.next())?.changes ?? []) {
        seen.push([type, JSON.parse(json).metadata.deletionGracePeriodSeconds]);
      }
    }
    stream.close();
    return seen;
  }

  it('marks it, then removes it, and answers with the version of the removal', async () => {
    const store = storeOver(storage, graceful);
    const made = await store.create(request, note({ name: 'twice' }), options);
    const { removed, text } = await store.delete(request, 'n', 'twice', now);
    assert.equal(removed, true);
    const from = made.resourceVersion as bigint;
    assert.deepEqual(await changesOf('twice', from, 2), [
      ['update', 0],
      ['delete', 0],
    ]);
    assert.deepEqual(await changesOf('twice', (text.resourceVersion as bigint) - 1n, 1), [['delete', 0]]);
  });

  it('leaves the mark when it is cut off, and any later delete or update ends the object', async () => {
    const fail = () => Promise.reject(new StorageError('Unavailable', 'gone'));
    const ends = {
      delete: (name: string) =>
        storeOver(storage, graceful).delete(request, 'n', name, { dryRun: false, validate: options.validate }),
      update: (name: string) =>
        storeOver(storage, graceful).update(request, 'n', name, {
          ...options,
          transform: (live) => ({ ...(live as ApiObject), text: 'changed' }),
        }),
    };
    for (const [name, end] of Object.entries(ends)) {
      const store = storeOver(interrupted(fail), graceful);
      await store.create(request, note({ name }), options);
      await assert.rejects(store.delete(request, 'n', name, now), StatusError);
      const marked = JSON.parse((await store.get('n', name)).json);
      assert.equal(marked.metadata.deletionGracePeriodSeconds, 0);
      await end(name);
      assert.equal(await storage.get(key(name)), undefined, name);
    }
  });

  it('succeeds when another client removed it first, and spares the object that took its place', async () => {
    const store = storeOver(storage, graceful);
    const gone = async () => void (await store.delete(request, 'n', 'raced', now));
    const replaced = async () => {
      await gone();
      await store.create(request, note({ name: 'raced' }), options);
    };
    for (const [meanwhile, left] of [
      [gone, false],
      [replaced, true],
    ] as const) {
      await store.create(request, note({ name: 'raced' }), options);
      const outcome = await storeOver(interrupted(meanwhile), graceful).delete(request, 'n', 'raced', now);
      assert.equal(outcome.removed, true);
      const found = await storage.get(key('raced'));
      assert.equal(found !== undefined, left);
      assert.notEqual(found?.uid, outcome.object.metadata.uid);
    }
  });
});

describe('Store.delete with a copy', () => {
  const remove = (name: string, copy: StoredObject, uid: string) =>
    storeOver(storage).delete(request, 'n', name, {
      dryRun: false,
      preconditions: { uid },
      validate: async () => {},
      cachedCopy: copy,
    });
  const made = async (name: string) => {
    await storeOver(storage).create(request, note({ name }), options);
    return (await storage.get({ resource: 'notes.test', namespace: 'n', name })) as StoredObject;
  };

  it('removes the object without a read, and decides by the live one when the copy is stale', async () => {
    const fresh = await made('fresh');
    assert.equal((await remove('fresh', fresh, fresh.uid)).removed, true);
    const stale = await made('held');
    await storeOver(storage).update(request, 'n', 'held', {
      ...options,
      transform: async (live) => {
        const object = structuredClone(live) as ApiObject;
        object.metadata.finalizers = ['example.com/hold'];
        return object;
      },
    });
    const outcome = await remove('held', stale, stale.uid);
    assert.equal(outcome.removed, false, 'the finalizer that came after the copy counts');
    assert.ok(outcome.object.metadata.deletionTimestamp);
  });

  it('spares an object that took the place of the copy', async () => {
    const first = await made('again');
    await remove('again', first, first.uid);
    const second = await made('again');
    await assert.rejects(remove('again', first, first.uid), { reason: 'Conflict' });
    assert.equal((await storage.get(second.key))?.uid, second.uid);
    await remove('again', second, second.uid);
    await assert.rejects(remove('again', second, second.uid), { reason: 'NotFound' });
  });
});

describe('a large object', () => {
  const isTooLarge = (error: unknown) => error instanceof StatusError && error.code === 413;
  const large = 'x'.repeat(3 * 2 ** 20);

  it('is not stored, and may only shrink when it already is', async () => {
    const store = storeOver(storage);
    const note = (name: string, text: string) => ({ metadata: { name, namespace: 'n' }, text }) as unknown as ApiObject;
    await assert.rejects(store.create(request, note('large', large), options), isTooLarge);
    await store.create(request, note('small', 'x'), options);
    const become = (name: string, text: string) =>
      store.update(request, 'n', name, { ...options, transform: (live) => ({ ...(live as ApiObject), text }) });
    await assert.rejects(become('small', large), isTooLarge);
    const { key, json } = await store.get('n', 'small');
    const older = json.replace('"text":"x"', `"text":"${large}y"`);
    await storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'write', uid: current?.uid ?? '', json: older }));
    await assert.rejects(become('small', `${large}yy`), isTooLarge);
    await become('small', large);
    await become('small', 'y');
  });
});

describe('warnings of a kind', () => {
  it('also reach a client whose request admission refuses', async () => {
    const store = storeOver(storage, { warnings: (_context, { text }) => [`odd text ${String(text)}`] });
    const refused = { dryRun: false, validate: () => Promise.reject(new Error('refused')) };
    const context = { ...request, warnings: [] as string[] };
    await assert.rejects(store.create(context, note({ name: 'warned' }), refused));
    assert.deepEqual(context.warnings, ['odd text x']);
    await store.create(request, note({ name: 'warned' }), options);
    const later = { ...request, warnings: [] as string[] };
    const transform = async (live: ApiObject | undefined) => ({ ...(live as ApiObject), text: 'y' });
    await assert.rejects(store.update(later, 'n', 'warned', { ...refused, transform }));
    assert.deepEqual(later.warnings, ['odd text y']);
  });
});
