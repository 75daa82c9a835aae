import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { testClock, testNames } from '../../test/support/definition-tester.js';
import { registeredGroups } from '../../test/support/registered-groups.js';
import { startTestPostgres, type TestPostgres } from '../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../test/support/test-storage.js';
import { validObject } from '../../test/support/valid-objects.js';
import type { ApiObject } from '../base/machinery/api-object.js';
import type { RequestContext } from '../base/machinery/request-context.js';
import { decode } from '../base/machinery/schema/index.js';
import { generateName, type RandomBytes } from '../objects/registry/metadata/generate-name.js';
import { isStoredKind, type StoredResource } from '../objects/registry/resource-definition.js';
import type { StoredServedResource } from '../objects/registry/resource-registry.js';
import { toStored } from '../objects/registry/store/object-codec.js';
import type { ResourceStores } from '../objects/registry/store/resource-stores.js';
import { Store } from '../objects/registry/store/store.js';

/** A random source whose suffixes each repeat one letter five times, with the letters in the given order. */
function letters(...order: number[]): RandomBytes {
  return (length) => new Uint8Array(length).fill(order.shift() ?? 26);
}

let postgres: TestPostgres;
let storage: TestStorage;
let stores: ResourceStores;

/** Uids that were offered to storage. */
const offered: string[] = [];

function recording(target: TestStorage): TestStorage {
  const create: TestStorage['create'] = (key, uid, json) => {
    offered.push(uid);
    return target.create(key, uid, json);
  };
  return new Proxy<TestStorage>(target, {
    get(inner, name) {
      const member: unknown = name === 'create' ? create : Reflect.get(inner, name, inner);
      return typeof member === 'function' ? member.bind(inner) : member;
    },
  });
}

before(async () => {
  postgres = await startTestPostgres();
  storage = await openTestStorage(await postgres.createTestDatabase());
  stores = await registeredGroups(storage);
});
after(async () => {
  await storage.stop();
  await postgres.stop();
});

const request = {
  requestInfo: { apiVersion: 'v1' },
  user: { name: 'u', uid: '', groups: ['system:masters'], extra: {} },
  warnings: [],
} as unknown as RequestContext;

/** Events of both groups are stored in one place. */
function baseOf({ group }: StoredResource): string {
  return group.startsWith('events') ? 'new-' : 'made-';
}

async function create(resource: StoredServedResource, random: RandomBytes, changes: object = {}): Promise<ApiObject> {
  const { definition } = resource;
  const namespace = definition.namespaced ? { namespace: 'default' } : {};
  const body = { ...validObject(definition, { generateName: baseOf(definition), ...namespace }), ...changes };
  const object = decode(resource.served.type, body).value as ApiObject;
  resource.served.applyDefaults?.(object);
  definition.strategy.applyDefaults?.(object);
  const store = new Store(resource, recording(storage), testClock, random);
  const options = { dryRun: false, validate: async () => {} };
  return JSON.parse((await store.create(request, toStored(resource, object), options)).json) as ApiObject;
}

/**
 * The object with placeholders for its name, its uid and values drawn from a range, so that objects can be compared.
 */
function comparable(object: ApiObject): unknown {
  const text = JSON.stringify(object)
    .replaceAll(object.metadata.uid as string, 'UID')
    .replaceAll(object.metadata.name as string, 'NAME');
  return JSON.parse(text.replaceAll(/"10\.0\.\d+\.\d+"/g, '"ADDRESS"').replaceAll(/"nodePort":\d+/g, '"nodePort":1'));
}

const { registry } = await registeredGroups();
/** Kinds whose names have a meaning, so a name can't be drawn at random. */
const named = new Set(['apiservices', 'customresourcedefinitions', 'ipaddresses', 'storageversions']);
const definitions = registry
  .definitions()
  .filter(isStoredKind)
  .filter((d) => !named.has(d.resource));

function resourceOf({ group, resource, versions }: StoredResource): StoredServedResource {
  return stores.registry.findStoredResource(group, versions[0].version, resource) as StoredServedResource;
}

describe('another name for a new object', () => {
  for (const definition of definitions) {
    it(`keeps nothing of the name that was taken: ${definition.resource}.${definition.group}`, async () => {
      const resource = resourceOf(definition);
      const taken = await create(resource, letters(0));
      assert.equal(taken.metadata.name, `${baseOf(definition)}bbbbb`);
      offered.length = 0;
      const second = await create(resource, letters(0, 0, 1));
      assert.equal(second.metadata.name, `${baseOf(definition)}ccccc`);
      const [first, next, own] = offered.splice(0);
      assert.equal(own, second.metadata.uid);
      const text = JSON.stringify(second);
      for (const left of [taken.metadata.name, first, next])
        assert.ok(!text.includes(left as string), `${left} in ${text}`);
      // The result is the same as if the free name had been drawn first.
      assert.deepEqual(comparable(second), comparable(await create(resource, letters(2))));
    });
  }

  it('gives back the address and the port of the first attempt', async () => {
    const services = stores.registry.findStoredResource('', 'v1', 'services') as StoredServedResource;
    const claims = async () =>
      (await storage.list({ resource: `ipaddresses.networking.${testNames.suffix}` })).items.length;
    const spec = { type: 'NodePort', ports: [{ port: 80 }] };
    await create(services, letters(5), { spec });
    const before = await claims();
    const second = await create(services, letters(5, 5, 6), { spec });
    assert.equal(await claims(), before + 1);
    const { clusterIP } = second.spec as { clusterIP: string };
    const found = await storage.get({
      resource: `ipaddresses.networking.${testNames.suffix}`,
      namespace: '',
      name: clusterIP,
    });
    assert.equal(JSON.parse(found?.json ?? '{}').spec.parentRef.name, second.metadata.name);
  });
});

describe('generateName', () => {
  it('cuts the base to fit a label', () => {
    assert.equal(generateName('a'.repeat(70), letters(0)), `${'a'.repeat(58)}bbbbb`);
  });
});
