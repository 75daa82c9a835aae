import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { serverContext } from '../../../base/machinery/internal-context.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { coreResources } from '../../../modules/core/core-api.module.js';
import { ResourceRegistry } from '../resource-registry.js';
import { parseText } from './object-codec.js';
import { ResourceStores } from './resource-stores.js';

const names = vendorNames('example.dev');
const ranges = { serviceClusterIpRange: '10.0.0.0/24', serviceNodePortRange: '30000-30099' };
const options = { dryRun: false, validate: async () => {} };
type ConfigMap = ApiObject & { readonly data?: Readonly<Record<string, string>> };

let postgres: TestPostgres;
let storage: TestStorage;
let stores: ResourceStores;
before(async () => {
  postgres = await startTestPostgres();
  storage = await openTestStorage(await postgres.createTestDatabase());
  stores = new ResourceStores(new ResourceRegistry(), storage, systemClock);
  for (const definition of coreResources(names, stores, ranges, undefined)) stores.registry.register(definition);
});
after(async () => {
  await storage?.stop();
  await postgres?.stop();
});

const map = (name: string, data: Record<string, string>) =>
  ({ metadata: { name, namespace: 'ns' }, data }) as ApiObject;
const request = () => serverContext(systemClock.now());
const owning = (manager: string) => stores.owning('', 'configmaps', manager);
const owners = async (name: string) => {
  const stored = await storage.get({ resource: 'configmaps', namespace: 'ns', name });
  assert.ok(stored);
  const { metadata } = parseText(owning('any').resource, stored.json);
  return metadata.managedFields && Object.fromEntries(metadata.managedFields.map((one) => [one.manager, one.fieldsV1]));
};
const withEntry = (key: string) => (live: ApiObject | undefined) =>
  ({ ...live, data: { ...(live as ConfigMap).data, [key]: 'new' } }) as ApiObject;

describe('the store for writes of the server', () => {
  it('records who made and who changed an object', async () => {
    await owning('maker').create(request(), map('a', { x: '1', y: '1' }), options);
    assert.deepEqual(await owners('a'), { maker: { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } } });
    await owning('changer').update(request(), 'ns', 'a', { ...options, transform: withEntry('x') });
    assert.deepEqual(await owners('a'), {
      maker: { 'f:data': { '.': {}, 'f:y': {} } },
      changer: { 'f:data': { 'f:x': {} } },
    });
  });

  it('leaves an object of a former release without owners', async () => {
    await stores.named('', 'configmaps').create(request(), map('b', { x: '1' }), options);
    assert.equal(await owners('b'), undefined);
    await owning('changer').update(request(), 'ns', 'b', { ...options, transform: withEntry('x') });
    assert.equal(await owners('b'), undefined);
  });

  it('writes nothing when nothing changes', async () => {
    await owning('maker').create(request(), map('c', { x: '1' }), options);
    const before = await storage.get({ resource: 'configmaps', namespace: 'ns', name: 'c' });
    await owning('changer').update(request(), 'ns', 'c', { ...options, transform: (live) => live as ApiObject });
    const after = await storage.get({ resource: 'configmaps', namespace: 'ns', name: 'c' });
    assert.equal(after?.resourceVersion, before?.resourceVersion);
  });
});
