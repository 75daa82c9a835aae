import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { processIdentity } from '../../base/config/process-identity.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { ManualTimers } from '../../loops/controllers/testing/manual-timers.js';
import { leaseResource } from '../../modules/coordination/lease/lease.resource.js';
import { coreResources } from '../../modules/core/core-api.module.js';
import { ensureSystemObjects } from '../../modules/core/system-objects.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { createPostgresStorage, type PostgresStorage } from '../../storage/postgres/postgres-storage.js';
import { IdentityLease } from './identity-lease.js';

const names = vendorNames('k8s.io', 'kubernetes');

describe('identity leases', () => {
  let server: TestPostgres;
  let storage: PostgresStorage;
  let timers: ManualTimers;
  let stores: ResourceStores;

  before(async () => {
    server = await startTestPostgres();
    storage = await createPostgresStorage({ databaseUrl: await server.createTestDatabase() });
    timers = new ManualTimers();
    stores = new ResourceStores(new ResourceRegistry(), storage, timers);
    const ranges = { serviceClusterIpRange: '10.0.0.0/24', serviceNodePortRange: '30000-30099' };
    for (const definition of coreResources(names, stores, ranges, undefined)) stores.registry.register(definition);
    stores.registry.register(leaseResource(names));
    await ensureSystemObjects({ names, stores, ranges }, 6443);
  });
  after(async () => {
    await storage?.stop();
    await server?.stop();
  });

  const leaseOf = (identity: string, durationSeconds = 3600) =>
    new IdentityLease({
      names,
      clock: timers,
      leases: stores.named('coordination.k8s.io', 'leases'),
      identity,
      durationSeconds,
      renewSeconds: 10,
      logger: { info: () => undefined, error: (text) => assert.fail(text) },
      timers,
    });
  const all = async () => {
    const { items } = await storage.list({ resource: 'leases.coordination.k8s.io' });
    return new Map(items.map(({ key, json }) => [key.name, JSON.parse(json)]));
  };

  it('are made and renewed, and a process that comes back takes its own', async () => {
    const lease = leaseOf('apiserver-a');
    await lease.renew();
    const made = (await all()).get('apiserver-a');
    assert.equal(made.metadata.namespace, 'kube-system');
    assert.equal(made.metadata.labels['apiserver.kubernetes.io/identity'], 'kube-apiserver');
    assert.match(made.spec.holderIdentity, /^apiserver-a_[0-9a-f-]{36}$/);
    assert.equal(made.spec.leaseDurationSeconds, 3600);
    timers.advance(10_000);
    await lease.renew();
    const renewed = (await all()).get('apiserver-a');
    assert.equal(Date.parse(renewed.spec.renewTime) - Date.parse(made.spec.renewTime), 10_000);
    assert.deepEqual(Object.keys(renewed.spec).toSorted(), ['holderIdentity', 'leaseDurationSeconds', 'renewTime']);
    await leaseOf('apiserver-a').renew();
    const taken = (await all()).get('apiserver-a');
    assert.notEqual(taken.spec.holderIdentity, made.spec.holderIdentity);
    assert.equal(taken.metadata.uid, made.metadata.uid);
  });

  it('of processes that are gone are removed when their time is over; other leases stay', async () => {
    await leaseOf('apiserver-gone', 60).renew();
    const foreign = {
      metadata: { name: 'foreign', namespace: 'kube-system' },
      spec: { renewTime: '2001-01-01T00:00:00.000000Z' },
    };
    await storage.create(
      { resource: 'leases.coordination.k8s.io', namespace: 'kube-system', name: 'foreign' },
      'u',
      JSON.stringify({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...foreign }),
    );
    const others = [leaseOf('apiserver-b'), leaseOf('apiserver-c')];
    timers.advance(60_000);
    for (const other of others) {
      await other.renew();
      await other.collect();
    }
    assert.ok((await all()).has('apiserver-gone'), 'not over yet');
    timers.advance(1_000);
    await Promise.all(others.map((other) => other.collect()));
    const left = [...(await all()).keys()].filter((name) => name !== 'apiserver-a').sort();
    assert.deepEqual(left, ['apiserver-b', 'apiserver-c', 'foreign']);
  });

  it('are renewed in the background until the end, and stay then', async () => {
    const lease = leaseOf('apiserver-d');
    const waits = timers.nextWait();
    lease.start();
    await waits;
    const before = (await all()).get('apiserver-d').spec.renewTime;
    const again = timers.nextWait();
    timers.advance(10_000);
    await again;
    assert.ok((await all()).get('apiserver-d').spec.renewTime > before);
    await lease.end();
    assert.ok((await all()).has('apiserver-d'));
  });
});

describe('the name of a process', () => {
  it('is the same after a restart, and differs by host, port and number', () => {
    assert.equal(processIdentity(6443, undefined, 'a'), processIdentity(6443, undefined, 'a'));
    const all = [
      processIdentity(6443, undefined, 'a'),
      processIdentity(6444, undefined, 'a'),
      processIdentity(6443, 0, 'a'),
      processIdentity(6443, 1, 'a'),
      processIdentity(6443, undefined, 'b'),
    ];
    assert.equal(new Set(all).size, all.length);
    for (const name of all) assert.match(name, /^apiserver-[a-z2-7]{26}$/);
  });
});
