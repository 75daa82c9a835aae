import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loopParts } from '../../../../test/support/loop-parts.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import { systemTimers, type Timers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { Logger } from '../../../base/observability/logger.js';
import { leaseResource } from '../../../modules/coordination/lease/lease.resource.js';
import { configMapResource } from '../../../modules/core/config-map/config-map.resource.js';
import { namespaceResource } from '../../../modules/core/namespace/namespace.resource.js';
import { pod } from '../../../objects/apis/core/v1/pod.types.js';
import { defineResource } from '../../../objects/registry/resource-definition.js';
import { ResourceRegistry, type StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { openAdmission } from '../../../objects/registry/store/admitted-store.js';
import { Store } from '../../../objects/registry/store/store.js';
import { createPostgresStorage, type PostgresStorage } from '../../../storage/postgres/postgres-storage.js';
import { type RunningControllers, startControllers } from '../controllers.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { workContext } from '../work-context.js';
import { NamespaceController } from './namespace.controller.js';
import { NamespaceContent } from './namespace-content.js';
import { NamespaceGone } from './namespace-gone.js';

const names = vendorNames('k8s.io');
const quiet = new Logger('error', 'text', () => {});
const noAdmission = async () => {};

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});

after(() => postgres.stop());

/** A kind that is deleted like pods: a pod on a node has a grace period and disappears when deleted with zero. */
const pods = defineResource({
  group: '',
  resource: 'pods',
  singular: 'pod',
  kind: 'Pod',
  namespaced: true,
  versions: [{ version: 'v1', type: pod as unknown as KindType }],
  strategy: {
    gracePeriodSeconds: (object, options) =>
      (object.spec as { nodeName?: string } | undefined)?.nodeName === undefined
        ? 0
        : (options.gracePeriodSeconds ?? 30),
  },
});

/** A kind whose objects refuse to be deleted. */
const stubborn = defineResource({
  group: 'test.example',
  resource: 'stubborns',
  singular: 'stubborn',
  kind: 'Stubborn',
  namespaced: true,
  versions: [{ version: 'v1', type: pod as unknown as KindType }],
  strategy: {
    deletionBlocked: () => {
      throw new Error('not today');
    },
  },
});

const alias = defineResource({
  ...configMapResource(),
  group: 'test.example',
  storedAs: { group: '', resource: 'configmaps' },
});

function registryOf(): ResourceRegistry {
  const registry = new ResourceRegistry();
  const reviews = defineResource({ ...configMapResource(), resource: 'reviews', verbs: ['create'] });
  for (const definition of [
    alias,
    configMapResource(),
    leaseResource(names),
    pods,
    reviews,
    namespaceResource(names),
  ]) {
    registry.register(definition);
  }
  return registry;
}

/** A database, the resources, and writes as from a client. */
class Cluster {
  readonly registry = registryOf();
  private readonly context = workContext('test', 0, new AbortController().signal);

  constructor(
    readonly databaseUrl: string,
    readonly storage: PostgresStorage,
  ) {}

  static async start(): Promise<Cluster> {
    const databaseUrl = await postgres.createTestDatabase();
    return new Cluster(databaseUrl, await createPostgresStorage({ databaseUrl }));
  }

  store(resource: string, group = ''): Store {
    return new Store(
      this.registry.findStoredResource(group, 'v1', resource) as StoredServedResource,
      this.storage,
      systemClock,
    );
  }

  async create(resource: string, namespace: string, name: string, rest: object = {}, meta: object = {}): Promise<void> {
    const [plural, group] = resource.split('/').toReversed() as [string, string?];
    const metadata = { name, ...(namespace === '' ? {} : { namespace }), ...meta };
    const object = { ...structuredClone(rest), metadata } as ApiObject;
    await this.store(plural, group).create(this.context, object, { dryRun: false, validate: noAdmission });
  }

  async createNamespace(name: string): Promise<void> {
    await this.create('namespaces', '', name, { spec: {}, status: {} });
  }

  async delete(resource: string, namespace: string, name: string, gracePeriodSeconds?: number): Promise<void> {
    const options = { dryRun: false, gracePeriodSeconds, validate: noAdmission };
    await this.store(resource).delete(this.context, namespace, name, options);
  }

  async removeFinalizers(resource: string, namespace: string, name: string): Promise<void> {
    await this.store(resource).update(this.context, namespace, name, {
      dryRun: false,
      validate: noAdmission,
      transform: (live) => {
        const { finalizers: _removed, ...metadata } = (live as ApiObject).metadata;
        return { ...(live as ApiObject), metadata };
      },
    });
  }

  async names(resource: string): Promise<string[]> {
    const { items } = await this.storage.list({ resource });
    return items.map(({ key }) => `${key.namespace}/${key.name}`);
  }

  /** Resolves with the namespace (undefined: it no longer exists) once it is in the wanted state. */
  async namespaceWhen(
    name: string,
    wanted: (namespace: ApiObject | undefined) => boolean,
  ): Promise<ApiObject | undefined> {
    const key = { resource: 'namespaces', namespace: '', name };
    const head = await this.storage.head();
    const subscription = await this.storage.watch(key, head);
    try {
      for (;;) {
        const found = await this.storage.get(key);
        const namespace = found === undefined ? undefined : (JSON.parse(found.json) as ApiObject);
        if (wanted(namespace)) return namespace;
        await subscription.next();
      }
    } finally {
      subscription.close();
    }
  }

  gone(name: string): Promise<unknown> {
    return this.namespaceWhen(name, (namespace) => namespace === undefined);
  }

  /** The conditions by type, once one of them has the given value. */
  async conditions(name: string, type: string, status: string): Promise<Record<string, Record<string, string>>> {
    const isThere = (namespace: ApiObject | undefined) => {
      assert.ok(namespace !== undefined, 'the namespace is gone');
      return conditionsOf(namespace).some((condition) => condition.type === type && condition.status === status);
    };
    const found = await this.namespaceWhen(name, isThere);
    return Object.fromEntries(conditionsOf(found as ApiObject).map((condition) => [condition.type, condition]));
  }
}

function conditionsOf(namespace: ApiObject): Record<string, string>[] {
  return (namespace.status as { conditions?: Record<string, string>[] }).conditions ?? [];
}

/** Runs the controller on a fresh cluster during `use`. */
async function withController(
  use: (cluster: Cluster, restart: () => Promise<void>) => Promise<void>,
  options: { timers?: Timers; settleMs?: number; prepare?: (cluster: Cluster) => Promise<void> } = {},
): Promise<void> {
  const cluster = await Cluster.start();
  await options.prepare?.(cluster);
  const { storage, registry } = cluster;
  const { timers = systemTimers, settleMs = 1 } = options;
  const start = () => {
    const stop = new AbortController();
    const pauses = { firstMs: 5, longestMs: 20 };
    const controller = new NamespaceController({ ...loopParts({ storage, registry, timers }), settleMs, pauses });
    return { stop, ended: controller.run(stop.signal) };
  };
  let running = start();
  const stopRunning = async () => {
    running.stop.abort();
    await running.ended;
  };
  try {
    await use(cluster, async () => {
      await stopRunning();
      running = start();
    });
  } finally {
    await stopRunning();
    await storage.stop();
  }
}

describe('NamespaceController', () => {
  it('removes the content and then the namespace, and touches nothing else', () =>
    withController(async (cluster) => {
      await cluster.createNamespace('one');
      await cluster.createNamespace('two');
      for (const namespace of ['one', 'two']) {
        for (const name of ['a', 'b']) await cluster.create('configmaps', namespace, name, { data: {} });
        await cluster.create('coordination.k8s.io/leases', namespace, 'l', { spec: {} });
        await cluster.create('pods', namespace, 'unscheduled', { spec: {}, status: {} });
      }
      await cluster.delete('namespaces', '', 'one');
      await cluster.gone('one');
      assert.deepEqual(await cluster.names('configmaps'), ['two/a', 'two/b']);
      assert.deepEqual(await cluster.names('pods'), ['two/unscheduled']);
      assert.deepEqual(await cluster.names('namespaces'), ['/two']);
    }));

  it('finishes work that began before it started, or that a stopped process left behind', () =>
    withController(
      async (cluster, restart) => {
        await cluster.gone('early');
        await cluster.conditions('held', 'NamespaceContentRemaining', 'True');
        await restart();
        await cluster.removeFinalizers('configmaps', 'held', 'a');
        await cluster.gone('held');
      },
      {
        prepare: async (cluster) => {
          for (const name of ['early', 'held']) {
            await cluster.createNamespace(name);
            const meta = name === 'held' ? { finalizers: ['golden.example/hold'] } : {};
            await cluster.create('configmaps', name, 'a', { data: {} }, meta);
            await cluster.delete('namespaces', '', name);
          }
        },
      },
    ));

  it('keeps a namespace whose content has finalizers, and says so', () =>
    withController(async (cluster) => {
      await cluster.createNamespace('held');
      await cluster.create('configmaps', 'held', 'a', {}, { finalizers: ['golden.example/hold'] });
      await cluster.create('configmaps', 'held', 'b', {}, { finalizers: ['golden.example/hold', 'x.example/y'] });
      await cluster.create('configmaps', 'held', 'c', {});
      await cluster.delete('namespaces', '', 'held');
      const found = await cluster.namespaceWhen('held', (namespace) => conditionsOf(namespace as ApiObject).length > 0);
      const conditions = conditionsOf(found as ApiObject);
      const { deletionTimestamp } = (found as ApiObject).metadata;
      assert.equal((found as unknown as { status: { phase: string } }).status.phase, 'Terminating');
      assert.ok(conditions.every(({ lastTransitionTime = '' }) => lastTransitionTime >= (deletionTimestamp as string)));
      assert.deepEqual(
        conditions.map(({ lastTransitionTime: _time, ...rest }) => rest),
        [
          {
            type: 'NamespaceDeletionDiscoveryFailure',
            status: 'False',
            reason: 'ResourcesDiscovered',
            message: 'All resources successfully discovered',
          },
          {
            type: 'NamespaceDeletionGroupVersionParsingFailure',
            status: 'False',
            reason: 'ParsedGroupVersions',
            message: 'All legacy kube types successfully parsed',
          },
          {
            type: 'NamespaceDeletionContentFailure',
            status: 'False',
            reason: 'ContentDeleted',
            message: 'All content successfully deleted, may be waiting on finalization',
          },
          {
            type: 'NamespaceContentRemaining',
            status: 'True',
            reason: 'SomeResourcesRemain',
            message: 'Some resources are remaining: configmaps. has 2 resource instances',
          },
          {
            type: 'NamespaceFinalizersRemaining',
            status: 'True',
            reason: 'SomeFinalizersRemain',
            message:
              'Some content in the namespace has finalizers remaining: golden.example/hold in 2 resource instances, x.example/y in 1 resource instances',
          },
        ],
      );
      assert.deepEqual(await cluster.names('configmaps'), ['held/a', 'held/b']);
      await cluster.removeFinalizers('configmaps', 'held', 'a');
      await cluster.removeFinalizers('configmaps', 'held', 'b');
      await cluster.gone('held');
    }));

  it('waits for pods on nodes, and keeps the other content until then', () =>
    withController(async (cluster) => {
      await cluster.createNamespace('busy');
      await cluster.create('configmaps', 'busy', 'settings', {});
      await cluster.create('pods', 'busy', 'scheduled', { spec: { nodeName: 'node-1' }, status: {} });
      await cluster.create('pods', 'busy', 'unscheduled', { spec: {}, status: {} });
      await cluster.delete('namespaces', '', 'busy');
      const conditions = await cluster.conditions('busy', 'NamespaceContentRemaining', 'True');
      const text = 'Some resources are remaining: pods. has 1 resource instances';
      assert.equal(conditions.NamespaceContentRemaining?.message, text);
      assert.deepEqual(await cluster.names('pods'), ['busy/scheduled']);
      assert.deepEqual(await cluster.names('configmaps'), ['busy/settings']);
      const stored = await cluster.storage.get({ resource: 'pods', namespace: 'busy', name: 'scheduled' });
      const { metadata } = JSON.parse(stored?.json ?? '') as ApiObject;
      assert.equal(metadata.deletionGracePeriodSeconds, 30);
      await cluster.delete('pods', 'busy', 'scheduled', 0);
      await cluster.gone('busy');
      assert.deepEqual(await cluster.names('configmaps'), []);
    }));

  it('reports what can’t be deleted and goes on with the rest', () =>
    withController(
      async (cluster) => {
        await cluster.delete('namespaces', '', 'odd');
        const conditions = await cluster.conditions('odd', 'NamespaceDeletionContentFailure', 'True');
        const { reason, message } = conditions.NamespaceDeletionContentFailure as Record<string, string>;
        assert.equal(reason, 'ContentDeletionFailed');
        assert.equal(message, 'Failed to delete all resource types, 1 remaining: not today');
        const remaining = 'Some resources are remaining: stubborns.test.example has 1 resource instances';
        assert.equal(conditions.NamespaceContentRemaining?.message, remaining);
        assert.deepEqual(await cluster.names('configmaps'), []);
      },
      {
        prepare: async (cluster) => {
          cluster.registry.register(stubborn);
          await cluster.createNamespace('odd');
          await cluster.create('test.example/stubborns', 'odd', 's', {});
          await cluster.create('configmaps', 'odd', 'a', {});
        },
      },
    ));

  it('waits before it starts, so that objects made at the last moment go too', async () => {
    const timers = new ManualTimers();
    await withController(
      async (cluster) => {
        await cluster.createNamespace('last');
        await cluster.delete('namespaces', '', 'last');
        await timers.waiting((milliseconds) => milliseconds === 2000);
        // Stands for an API process that has not noticed the deletion yet.
        await cluster.create('configmaps', 'last', 'late', {});
        assert.deepEqual(await cluster.names('namespaces'), ['/last']);
        timers.advance(2000);
        await cluster.gone('last');
        assert.deepEqual(await cluster.names('configmaps'), []);
      },
      { timers, settleMs: 2000 },
    );
  });

  it('ends many namespaces at once', () =>
    withController(async (cluster) => {
      const all = Array.from({ length: 25 }, (_, i) => `many-${i}`);
      for (const name of all) {
        await cluster.createNamespace(name);
        await Promise.all(['a', 'b', 'c'].map((object) => cluster.create('configmaps', name, object, {})));
      }
      await Promise.all(all.map((name) => cluster.delete('namespaces', '', name)));
      await Promise.all(all.map((name) => cluster.gone(name)));
      assert.deepEqual(await cluster.names('configmaps'), []);
    }));

  it('leaves other finalizers of the namespace to their owners', () =>
    withController(async (cluster) => {
      await cluster.create('namespaces', '', 'shared', { spec: { finalizers: ['other.example/wait'] }, status: {} });
      await cluster.delete('namespaces', '', 'shared');
      const found = await cluster.namespaceWhen('shared', (namespace) => {
        assert.ok(namespace !== undefined);
        return (namespace.spec as { finalizers: string[] }).finalizers.length === 1;
      });
      assert.deepEqual(found?.spec as object, { finalizers: ['other.example/wait'] });
    }));
});

describe('NamespaceContent', () => {
  it('deletes nothing when the namespace was replaced by another one', async () => {
    const cluster = await Cluster.start();
    await cluster.create('configmaps', 'again', 'precious', {});
    const content = new NamespaceContent(
      cluster.registry,
      cluster.storage,
      systemClock,
      (now, signal) => workContext('test', now, signal),
      openAdmission,
    );
    const deleting = content.delete('again', async () => false, undefined, new AbortController().signal);
    await assert.rejects(deleting, NamespaceGone);
    assert.deepEqual(await cluster.names('configmaps'), ['again/precious']);
    await cluster.storage.stop();
  });
});

describe('startControllers', () => {
  it('runs the loops in one process only, and in another one when that stops', async () => {
    const cluster = await Cluster.start();
    const second = await createPostgresStorage({ databaseUrl: cluster.databaseUrl });
    // Leases so long that no delay of this process makes the first controller lose its lease before it stops and gives
    // it up.
    const leaseTimes = { leaseDurationMs: 120_000, renewDeadlineMs: 100_000, retryPeriodMs: 20 };
    const start = (storage: PostgresStorage, identity: string): RunningControllers =>
      startControllers({
        storage,
        registry: cluster.registry,
        names,
        logger: quiet,
        enabled: new Set(['namespace']),
        identity,
        leaseTimes,
        settleMs: 1,
      });
    const holder = async (identity: string): Promise<void> => {
      const key = { resource: 'leases.coordination.k8s.io', namespace: 'control-system', name: 'plinth-controllers' };
      const subscription = await cluster.storage.watch(key, await cluster.storage.head());
      for (;;) {
        const found = await cluster.storage.get(key);
        if (found?.json.includes(`"holderIdentity":"${identity}"`)) break;
        await subscription.next();
      }
      subscription.close();
    };
    const first = start(cluster.storage, 'first');
    await holder('first');
    const other = start(second, 'second');
    await cluster.createNamespace('one');
    await cluster.delete('namespaces', '', 'one');
    await cluster.gone('one');
    assert.equal(other.isLeading, false);
    await first.stop();
    await holder('second');
    assert.equal(first.isLeading, false);
    await cluster.createNamespace('two');
    await cluster.delete('namespaces', '', 'two');
    await cluster.gone('two');
    await other.stop();
    await second.stop();
    await cluster.storage.stop();
  });
});
