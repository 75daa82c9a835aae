import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { ManualTimers } from '../../loops/controllers/testing/manual-timers.js';
import { coreResources } from '../../modules/core/core-api.module.js';
import { ensureSystemObjects, type SystemDependencies } from '../../modules/core/system-objects.js';
import { endpointSliceResource } from '../../modules/discovery/endpoint-slice/endpoint-slice.resource.js';
import type { Endpoints } from '../../objects/apis/core/v1/endpoints.types.js';
import type { Service } from '../../objects/apis/core/v1/service.types.js';
import type { EndpointSlice } from '../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { createPostgresStorage, type PostgresStorage } from '../../storage/postgres/postgres-storage.js';
import { silentObserver } from '../../storage/postgres/postgres-storage-options.js';
import { StorageError } from '../../storage/storage-error.js';
import { advertisedAddress } from './advertised-address.js';
import type { Advertiser } from './advertiser.js';
import { type AdvertiserContext, advertiserOf } from './build-advertiser.js';
import { leaseMs, type ServingAddress, servingLeaseResource } from './serving-leases.js';

const sliceResource = 'endpointslices.discovery.k8s.io';

describe('the published address of the API', () => {
  let server: TestPostgres;
  let storage: PostgresStorage;
  let context: SystemDependencies;
  let timers: ManualTimers;
  let reported: string[];
  const logger = {
    info: (text: string) => reported.push(text),
    error: (text: string) => reported.push(text),
  };

  before(async () => {
    server = await startTestPostgres();
  });
  after(() => server.stop());
  beforeEach(async () => {
    const databaseUrl = await server.createTestDatabase();
    storage = await createPostgresStorage({ databaseUrl, observer: silentObserver });
    timers = new ManualTimers();
    reported = [];
    const names = vendorNames('k8s.io');
    const stores = new ResourceStores(new ResourceRegistry(), storage, timers);
    const ranges = { serviceClusterIpRange: '10.0.0.0/24', serviceNodePortRange: '30000-30099' };
    context = { names, stores, ranges };
    for (const definition of coreResources(names, stores, ranges, undefined)) stores.registry.register(definition);
    stores.registry.register(endpointSliceResource(names));
    await ensureSystemObjects(context, 6443);
  });
  afterEach(() => storage.stop());

  const processAt = (own: ServingAddress | undefined, over: AdvertiserContext = context) =>
    advertiserOf(over, own, logger, timers);
  const read = async <T>(resource: string, name = 'kubernetes'): Promise<T | undefined> => {
    const stored = await storage.get({ resource, namespace: 'default', name });
    return stored === undefined ? undefined : (JSON.parse(stored.json) as T);
  };
  const endpoints = async () =>
    ((await read<Endpoints>('endpoints'))?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
      ports.flatMap(({ port }) => addresses.map(({ ip }) => `${ip} ${port}`)),
    );
  const slices = async () => {
    const { items } = await storage.list({ resource: sliceResource });
    return items.map(({ json }) => {
      const { metadata, addressType, endpoints: entries, ports } = JSON.parse(json) as EndpointSlice;
      const addresses = entries?.map((entry) => entry.addresses?.join()).join(' ');
      return `${metadata?.name}: ${addressType} ${addresses} ${ports?.map(({ port }) => port).join()}`;
    });
  };
  /** All processes run their round, then time passes until the next round. */
  const rounds = async (processes: readonly Advertiser[], count: number) => {
    for (let i = 0; i < count; i++) {
      for (const process of processes) await process.round();
      timers.advance(5_000);
    }
  };

  it('is the address of each process, under the service’s port', async () => {
    await processAt({ ip: '192.0.2.7', port: 6443 }).round();
    await processAt({ ip: '192.0.2.5', port: 6443 }).round();
    assert.deepEqual((await read<Endpoints>('endpoints'))?.subsets, [
      {
        addresses: [{ ip: '192.0.2.5' }, { ip: '192.0.2.7' }],
        ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
      },
    ]);
    const slice = await read<EndpointSlice>(sliceResource);
    assert.equal(slice?.addressType, 'IPv4');
    assert.deepEqual(slice?.metadata?.labels, { 'kubernetes.io/service-name': 'kubernetes' });
    assert.deepEqual(slice?.ports, [{ name: 'https', protocol: 'TCP', port: 6443 }]);
    assert.deepEqual(
      slice?.endpoints?.map(({ addresses, conditions }) => [addresses, conditions?.ready]),
      [
        [['192.0.2.5'], true],
        [['192.0.2.7'], true],
      ],
    );
    const { spec } = (await read<Service>('services')) as Service;
    assert.deepEqual(
      spec.ports?.map(({ name, targetPort }) => [name, targetPort]),
      [['https', 6443]],
    );
  });

  it('loses the address of a process that died, and no other', async () => {
    const dead = processAt({ ip: '192.0.2.5', port: 6443 });
    const living = processAt({ ip: '192.0.2.7', port: 6443 });
    await rounds([dead, living], 2);
    await rounds([living], leaseMs / 5_000 - 1);
    assert.deepEqual(await endpoints(), ['192.0.2.5 6443', '192.0.2.7 6443']);
    await rounds([living], 3);
    assert.deepEqual(await endpoints(), ['192.0.2.7 6443']);
    assert.deepEqual(await slices(), ['kubernetes: IPv4 192.0.2.7 6443']);
    assert.equal((await storage.list({ resource: servingLeaseResource })).items.length, 1);
  });

  it('loses the address of a stopping process at once, even of the last one', async () => {
    const first = processAt({ ip: '192.0.2.5', port: 6443 });
    const second = processAt({ ip: '192.0.2.7', port: 6443 });
    for (const process of [first, second]) {
      const begins = timers.nextWait();
      process.start();
      await begins;
    }
    assert.deepEqual(await endpoints(), ['192.0.2.5 6443', '192.0.2.7 6443']);
    await first.withdraw();
    assert.deepEqual(await endpoints(), ['192.0.2.7 6443']);
    await second.withdraw();
    assert.deepEqual(await endpoints(), []);
    assert.deepEqual(await slices(), []);
    assert.deepEqual((await storage.list({ resource: servingLeaseResource })).items, []);
    assert.deepEqual(reported, []);
  });

  it('keeps an address that several processes share until the last of them is gone', async () => {
    const workers = [processAt({ ip: '192.0.2.5', port: 6443 }), processAt({ ip: '192.0.2.5', port: 6443 })];
    for (const worker of workers) {
      const begins = timers.nextWait();
      worker.start();
      await begins;
    }
    await workers[0]?.withdraw();
    assert.deepEqual(await endpoints(), ['192.0.2.5 6443']);
    await workers[1]?.withdraw();
    assert.deepEqual(await endpoints(), []);
  });

  it('has a slice for each port and family', async () => {
    const others = [processAt({ ip: '192.0.2.7', port: 7443 }), processAt({ ip: '2001:db8::7', port: 6443 })];
    const first = processAt({ ip: '192.0.2.5', port: 6443 });
    await rounds([first, ...others], 1);
    assert.deepEqual(await slices(), [
      'kubernetes: IPv4 192.0.2.5 6443',
      'kubernetes-ipv4-7443: IPv4 192.0.2.7 7443',
      'kubernetes-ipv6-6443: IPv6 2001:db8::7 6443',
    ]);
    await rounds([first], 6);
    assert.deepEqual(await slices(), ['kubernetes: IPv4 192.0.2.5 6443']);
  });

  it('corrects the service’s port when no process serves on it any longer', async () => {
    const before = processAt({ ip: '192.0.2.5', port: 6443 });
    await before.round();
    const after = processAt({ ip: '192.0.2.5', port: 7443 });
    await rounds([after], 5);
    const { spec } = (await read<Service>('services')) as Service;
    assert.equal(spec.ports?.[0]?.targetPort, 7443);
    assert.deepEqual(await endpoints(), ['192.0.2.5 7443']);
    assert.deepEqual(await slices(), ['kubernetes: IPv4 192.0.2.5 7443']);
  });

  it('is restored when somebody deletes or changes it, and is not written otherwise', async () => {
    const process = processAt({ ip: '192.0.2.5', port: 6443 });
    await process.round();
    const versions = async () => [
      (await storage.get({ resource: 'endpoints', namespace: 'default', name: 'kubernetes' }))?.resourceVersion,
      (await storage.get({ resource: sliceResource, namespace: 'default', name: 'kubernetes' }))?.resourceVersion,
    ];
    const written = await versions();
    await process.round();
    assert.deepEqual(await versions(), written);
    const key = { resource: sliceResource, namespace: 'default', name: 'kubernetes' };
    await storage.guaranteedUpdate(key, {}, (current) => ({ kind: 'delete', json: current?.json ?? '' }));
    const changed = { resource: 'endpoints', namespace: 'default', name: 'kubernetes' };
    await storage.guaranteedUpdate(changed, {}, (current) => ({
      kind: 'write',
      uid: current?.uid ?? '',
      json: (current?.json ?? '').replace('192.0.2.5', '192.0.2.66'),
    }));
    await process.round();
    assert.deepEqual(await endpoints(), ['192.0.2.5 6443']);
    assert.deepEqual(await slices(), ['kubernetes: IPv4 192.0.2.5 6443']);
  });

  it('is left alone by processes without an address for others', async () => {
    await processAt(undefined).round();
    assert.equal(await read('endpoints'), undefined);
    await processAt({ ip: '192.0.2.5', port: 6443 }).round();
    await rounds([processAt(undefined)], 5);
    assert.deepEqual(await endpoints(), [], 'but not what a dead process said');
  });

  it('survives an outage in which nobody could renew a lease', async () => {
    let isAway = false;
    const away = async (): Promise<never> => {
      throw new StorageError('Unavailable', 'away');
    };
    const reachable = new Proxy(storage, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        return isAway ? away : value.bind(target);
      },
    });
    const through = { ...context, stores: new ResourceStores(context.stores.registry, reachable, timers) };
    const first = processAt({ ip: '192.0.2.5', port: 6443 }, through);
    const second = processAt({ ip: '192.0.2.7', port: 6443 }, through);
    await rounds([first, second], 2);
    isAway = true;
    await rounds([first, second], 10);
    isAway = false;
    await rounds([first], 2);
    assert.deepEqual(await endpoints(), ['192.0.2.5 6443', '192.0.2.7 6443']);
    assert.equal(reported.filter((text) => text.startsWith('cannot publish where')).length, 2, 'once for each process');
  });
});

describe('the address of a process for others', () => {
  it('is the configured address, or the one that it listens on', async () => {
    const bindAddress = '192.0.2.9';
    assert.equal(await advertisedAddress({ bindAddress }), bindAddress);
    assert.equal(await advertisedAddress({ bindAddress, advertiseAddress: '2001:DB8::0:1' }), '2001:db8::1');
  });

  it('is never one that means a different host to each reader', async () => {
    assert.equal(await advertisedAddress({ bindAddress: '192.0.2.9', advertiseAddress: '127.0.0.1' }), undefined);
    for (const bindAddress of ['127.0.0.1', '0.0.0.0', '::', '::1']) {
      const address = (await advertisedAddress({ bindAddress })) ?? '';
      assert.doesNotMatch(address, /^(127\.|0\.0\.0\.0|::1?$|fe80)/);
    }
  });
});
