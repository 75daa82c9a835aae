import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loopParts } from '../../../../test/support/loop-parts.js';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { partOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import { PvProtectionController } from '../pv-protection/pv-protection.controller.js';
import { claimsOf } from '../pvc-protection/claims-in-use.js';
import { PvcProtectionController } from '../pvc-protection/pvc-protection.controller.js';
import { workContext } from '../work-context.js';

const namespace = 'default';
const claims = 'persistentvolumeclaims';
const volumes = 'persistentvolumes';
const free = { dryRun: false, validate: async () => {} };

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});

after(() => postgres.stop());

/** A database in which objects are written as by clients. */
class Cluster {
  private readonly context = workContext('test', 0, new AbortController().signal);

  constructor(readonly stores: ResourceStores) {}

  async create(resource: string, body: object): Promise<void> {
    await this.stores.named('', resource).create(this.context, structuredClone(body) as ApiObject, free);
  }

  async changeStatus(resource: string, name: string, phase: string): Promise<void> {
    const store = this.stores.named('', resource);
    await store.update(this.context, store.resource.definition.namespaced ? namespace : '', name, {
      ...free,
      subresource: partOf(store.resource.definition, 'status'),
      transform: (live) => {
        const copy = structuredClone(live) as ApiObject;
        return { ...copy, status: { ...(copy.status as object), phase } };
      },
    });
  }

  async delete(resource: string, name: string): Promise<void> {
    const store = this.stores.named('', resource);
    const within = store.resource.definition.namespaced ? namespace : '';
    await store.delete(this.context, within, name, { ...free, gracePeriodSeconds: 0 });
  }

  async find(resource: string, name: string): Promise<ApiObject | undefined> {
    const within = resource === volumes ? '' : namespace;
    const stored = await this.stores.storage.get({ resource, namespace: within, name });
    return stored && (JSON.parse(stored.json) as ApiObject);
  }

  /** Resolves when the conditions of a claim report whether a pod names it. */
  async unused(name: string, status: string): Promise<void> {
    const { storage } = this.stores;
    const subscription = await storage.watch({ resource: claims }, await storage.head());
    const timer = setTimeout(() => subscription.close(), 60_000);
    try {
      for (;;) {
        const { conditions = [] } = ((await this.find(claims, name))?.status ?? {}) as {
          conditions?: { type: string; status: string; reason: string }[];
        };
        if (conditions.some((one) => one.type === 'Unused' && one.status === status)) return;
        if ((await subscription.next()) === undefined) throw new Error(`${name} is not Unused ${status}`);
      }
    } finally {
      clearTimeout(timer);
      subscription.close();
    }
  }

  /** Resolves when an object has gone. */
  async gone(resource: string, name: string): Promise<void> {
    const { storage } = this.stores;
    const subscription = await storage.watch({ resource }, await storage.head());
    const timer = setTimeout(() => subscription.close(), 60_000);
    try {
      while ((await this.find(resource, name)) !== undefined) {
        if ((await subscription.next()) === undefined) throw new Error(`${resource}/${name} is still there`);
      }
    } finally {
      clearTimeout(timer);
      subscription.close();
    }
  }
}

async function withLoops(use: (cluster: Cluster) => Promise<void>, prepare?: (cluster: Cluster) => Promise<void>) {
  const storage = await openTestStorage(await postgres.createTestDatabase());
  const stores = await registeredGroups(storage);
  const cluster = new Cluster(stores);
  await cluster.create('namespaces', { metadata: { name: namespace }, spec: {}, status: {} });
  await prepare?.(cluster);
  const stop = new AbortController();
  const parts = loopParts({ storage, registry: stores.registry });
  const loops = [new PvcProtectionController(parts), new PvProtectionController(parts)];
  const running = loops.map((loop) => loop.run(stop.signal));
  try {
    await use(cluster);
  } finally {
    stop.abort();
    await Promise.all(running);
    await storage.stop();
  }
}

const claim = (name: string, finalizers = ['kubernetes.io/pvc-protection']) => ({
  metadata: { name, namespace, finalizers },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeMode: 'Filesystem' },
  status: { phase: 'Pending' },
});
const volume = (name: string) => ({
  metadata: { name, finalizers: ['kubernetes.io/pv-protection'] },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/d', type: '' },
    persistentVolumeReclaimPolicy: 'Retain',
    volumeMode: 'Filesystem',
  },
  status: { phase: 'Available' },
});

function pod(name: string, claimName: string, nodeName = 'n1') {
  return {
    metadata: { name, namespace },
    spec: {
      nodeName,
      containers: [
        { name: 'c', image: 'i', imagePullPolicy: 'Always', terminationMessagePolicy: 'File', resources: {} },
      ],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      restartPolicy: 'Always',
      dnsPolicy: 'Default',
      terminationGracePeriodSeconds: 0,
    },
    status: {},
  };
}

describe('the protection of claims', () => {
  it('says whether a pod names a bound claim', () =>
    withLoops(async (cluster) => {
      await cluster.create(claims, claim('named'));
      await cluster.changeStatus(claims, 'named', 'Bound');
      await cluster.unused('named', 'True');
      await cluster.create('pods', pod('namer', 'named', ''));
      await cluster.unused('named', 'False');
      await cluster.changeStatus('pods', 'namer', 'Succeeded');
      await cluster.unused('named', 'True');
    }));

  it('lets an unused claim go, also one that was deleted before the loop began', () =>
    withLoops(
      async (cluster) => {
        await cluster.gone(claims, 'early');
        await cluster.create(claims, claim('late'));
        await cluster.delete(claims, 'late');
        await cluster.gone(claims, 'late');
      },
      async (cluster) => {
        await cluster.create(claims, claim('early'));
        await cluster.delete(claims, 'early');
        assert.notEqual(await cluster.find(claims, 'early'), undefined);
      },
    ));

  it('keeps a claim until its last pod has ended or gone', () =>
    withLoops(async (cluster) => {
      for (const name of ['used', 'witness']) await cluster.create(claims, claim(name));
      for (const name of ['a', 'b']) await cluster.create('pods', pod(name, 'used'));
      await cluster.create('pods', pod('unscheduled', 'used', ''));
      await cluster.delete(claims, 'used');
      await cluster.delete(claims, 'witness');
      await cluster.gone(claims, 'witness');
      await cluster.changeStatus('pods', 'a', 'Succeeded');
      await cluster.create(claims, claim('second-witness'));
      await cluster.delete(claims, 'second-witness');
      await cluster.gone(claims, 'second-witness');
      assert.deepEqual((await cluster.find(claims, 'used'))?.metadata.finalizers, ['kubernetes.io/pvc-protection']);
      await cluster.delete('pods', 'b');
      await cluster.gone(claims, 'used');
    }));

  it('leaves the finalizers of others', () =>
    withLoops(async (cluster) => {
      await cluster.create(claims, claim('x', ['a/b', 'kubernetes.io/pvc-protection', 'c/d']));
      await cluster.delete(claims, 'x');
      await cluster.create(claims, claim('witness'));
      await cluster.delete(claims, 'witness');
      await cluster.gone(claims, 'witness');
      assert.deepEqual((await cluster.find(claims, 'x'))?.metadata.finalizers, ['a/b', 'c/d']);
    }));
});

describe('the protection of volumes', () => {
  it('keeps a volume while it is bound', () =>
    withLoops(async (cluster) => {
      for (const name of ['bound', 'witness']) await cluster.create(volumes, volume(name));
      await cluster.changeStatus(volumes, 'bound', 'Bound');
      await cluster.delete(volumes, 'bound');
      await cluster.delete(volumes, 'witness');
      await cluster.gone(volumes, 'witness');
      assert.notEqual(await cluster.find(volumes, 'bound'), undefined);
      await cluster.changeStatus(volumes, 'bound', 'Released');
      await cluster.gone(volumes, 'bound');
    }));
});

describe('the claims that a pod holds on to', () => {
  const spec = {
    nodeName: 'n1',
    volumes: [
      { name: 'a', persistentVolumeClaim: { claimName: 'one' } },
      { name: 'b', persistentVolumeClaim: { claimName: 'one' } },
      { name: 'c', ephemeral: {} },
      { name: 'd', emptyDir: {} },
    ],
  };
  const of = (over: object, phase?: string) =>
    claimsOf({ metadata: { namespace: 'n', name: 'p' }, spec: { ...spec, ...over }, status: { phase } } as never);

  it('are those of its volumes, from when it has a node until it has ended', () => {
    assert.deepEqual(of({}, 'Running'), ['n/one', 'n/p-c']);
    assert.deepEqual(of({}), ['n/one', 'n/p-c']);
    assert.deepEqual(of({ nodeName: undefined }), []);
    for (const phase of ['Succeeded', 'Failed']) assert.deepEqual(of({}, phase), []);
  });
});
