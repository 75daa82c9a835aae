import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../test/support/test-storage.js';
import type { ApiObject } from '../machinery/api-object.js';
import { systemClock } from '../machinery/clock.js';
import type { RequestContext } from '../machinery/request-context.js';
import { always, kind, optional, string, struct } from '../machinery/schema/index.js';
import { StatusError } from '../machinery/status-error.js';
import type { Storage, StorageKey } from '../storage/storage.interface.js';
import { defineResource } from './resource-definition.js';
import { ResourceRegistry, type ServedResource } from './resource-registry.js';
import { Store } from './store.js';
import type { Strategy } from './strategy.js';

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

/** Storage in which somebody else is always faster to write under a name, `collisions` times. */
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
  return new Store(registry.find('test', 'v1', 'notes') as ServedResource, over, systemClock);
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

  it('gives back what it reserved for a name that was taken', async () => {
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
