import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loopParts } from '../../../../test/support/loop-parts.js';
import { bootstrapRights } from '../../../../test/support/loop-rights.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { closedRules } from '../../../base/machinery/authorizer.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { clusterRoleResource } from '../../../modules/rbac/role/role.resource.js';
import type { ClusterRole } from '../../../objects/apis/rbac/v1/role.types.js';
import { ResourceRegistry, type StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { Store } from '../../../objects/registry/store/store.js';
import { createPostgresStorage, type PostgresStorage } from '../../../storage/postgres/postgres-storage.js';
import { workContext } from '../work-context.js';
import { ClusterRoleAggregationController } from './cluster-role-aggregation.controller.js';

const names = vendorNames('k8s.io');
const group = 'rbac.authorization.k8s.io';
const resource = `clusterroles.${group}`;

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});

after(() => postgres.stop());

const rule = (name: string) => ({ verbs: ['get'], apiGroups: [''], resources: [name] });
const collecting = (label: string) => ({ clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] });

/** A database with one resource, to which an administrator writes. */
class Cluster {
  readonly registry = new ResourceRegistry();
  private readonly store: Store;
  private readonly context;

  constructor(readonly storage: PostgresStorage) {
    this.registry.register(
      clusterRoleResource({
        names,
        registry: this.registry,
        storage,
        authorizer: bootstrapRights(names),
        rules: closedRules,
      }),
    );
    this.store = new Store(
      this.registry.findStoredResource(group, 'v1', 'clusterroles') as StoredServedResource,
      storage,
      systemClock,
    );
    const context = workContext('test', 0, new AbortController().signal);
    this.context = { ...context, user: { name: 'admin', uid: '', groups: ['system:masters'], extra: {} } };
  }

  async create(name: string, labels: readonly string[], rest: Partial<ClusterRole>): Promise<void> {
    const metadata = { name, labels: Object.fromEntries(labels.map((label) => [label, 'true'])) };
    const object = { metadata, rules: null, ...rest } as ApiObject;
    await this.store.create(this.context, object, { dryRun: false, validate: async () => {} });
  }

  async change(name: string, change: (role: ClusterRole) => object): Promise<void> {
    await this.store.update(this.context, '', name, {
      dryRun: false,
      validate: async () => {},
      transform: (live) => change(structuredClone(live) as ApiObject as ClusterRole) as ApiObject,
    });
  }

  async delete(name: string): Promise<void> {
    await this.store.delete(this.context, '', name, { dryRun: false, validate: async () => {} });
  }

  /** Resolves when the role has rules for these resources, in this order. */
  async rulesWhen(name: string, expected: readonly string[]): Promise<ClusterRole> {
    const key = { resource, namespace: '', name };
    const subscription = await this.storage.watch(key, await this.storage.head());
    let seen: string[] = [];
    const timer = setTimeout(() => subscription.close(), 60_000);
    try {
      for (;;) {
        const found = await this.storage.get(key);
        const role = JSON.parse(found?.json ?? '{}') as ClusterRole;
        seen = (role.rules ?? []).flatMap(({ resources = [] }) => resources);
        if (JSON.stringify(seen) === JSON.stringify(expected)) return role;
        if ((await subscription.next()) === undefined) throw new Error(`${name} has ${seen} instead of ${expected}`);
      }
    } finally {
      clearTimeout(timer);
      subscription.close();
    }
  }
}

/** Runs `loops` controllers on a fresh database during `use`. */
async function withControllers(loops: number, use: (cluster: Cluster) => Promise<void>): Promise<void> {
  const storage = await createPostgresStorage({ databaseUrl: await postgres.createTestDatabase() });
  const cluster = new Cluster(storage);
  const stop = new AbortController();
  const { registry } = cluster;
  const running = Array.from({ length: loops }, () =>
    new ClusterRoleAggregationController(loopParts({ storage, registry })).run(stop.signal),
  );
  try {
    await use(cluster);
  } finally {
    stop.abort();
    await Promise.all(running);
    await storage.stop();
  }
}

describe('ClusterRoleAggregationController', () => {
  it('collects rules by name, each once, and follows every change', () =>
    withControllers(1, async (cluster) => {
      await cluster.create('all', [], { aggregationRule: collecting('part') });
      await cluster.create('b', ['part'], { rules: [rule('pods'), rule('secrets')] });
      await cluster.create('a', ['part'], { rules: [rule('nodes'), rule('secrets')] });
      await cluster.create('other', ['else'], { rules: [rule('events')] });
      await cluster.rulesWhen('all', ['nodes', 'secrets', 'pods']);

      await cluster.change('b', (role) => ({ ...role, rules: [rule('services')] }));
      await cluster.rulesWhen('all', ['nodes', 'secrets', 'services']);
      await cluster.change('other', (role) => ({ ...role, metadata: { ...role.metadata, labels: { part: 'true' } } }));
      await cluster.rulesWhen('all', ['nodes', 'secrets', 'services', 'events']);
      await cluster.delete('a');
      await cluster.rulesWhen('all', ['services', 'events']);
    }));

  it('replaces rules that a client writes', () =>
    withControllers(1, async (cluster) => {
      await cluster.create('a', ['part'], { rules: [rule('nodes')] });
      await cluster.create('all', [], { aggregationRule: collecting('part') });
      await cluster.rulesWhen('all', ['nodes']);
      await cluster.change('all', (role) => ({ ...role, rules: [rule('secrets')] }));
      await cluster.rulesWhen('all', ['nodes']);
      // Without the aggregation rule, clients own the role's rules again.
      await cluster.change('all', ({ aggregationRule: _gone, ...role }) => ({ ...role, rules: [rule('secrets')] }));
      await cluster.create('c', ['part'], { rules: [rule('pods')] });
      await cluster.create('witness', [], { aggregationRule: collecting('part') });
      await cluster.rulesWhen('witness', ['nodes', 'pods']);
      await cluster.rulesWhen('all', ['secrets']);
    }));

  it('collects from roles that collect', () =>
    withControllers(1, async (cluster) => {
      await cluster.create('outer', [], { aggregationRule: collecting('inner') });
      await cluster.create('inner', ['inner'], { aggregationRule: collecting('part') });
      await cluster.create('a', ['part'], { rules: [rule('nodes')] });
      await cluster.rulesWhen('outer', ['nodes']);
      await cluster.delete('a');
      await cluster.rulesWhen('outer', []);
    }));

  it('writes no role that is correct already, and agrees with a second loop', () =>
    withControllers(2, async (cluster) => {
      await cluster.create('a', ['part'], { rules: [rule('nodes')] });
      await cluster.create('all', [], { aggregationRule: collecting('part') });
      const { resourceVersion: before } = await stored(cluster, 'all', ['nodes']);
      await cluster.change('a', (role) => ({ ...role, metadata: { ...role.metadata, annotations: { x: 'y' } } }));
      // Once both loops have acted on a later change, they have also seen the earlier one.
      await cluster.create('witness', [], { aggregationRule: collecting('part') });
      await cluster.rulesWhen('witness', ['nodes']);
      const { resourceVersion: later } = await stored(cluster, 'all', ['nodes']);
      assert.equal(later, before);
    }));
});

async function stored(cluster: Cluster, name: string, expected: readonly string[]) {
  await cluster.rulesWhen(name, expected);
  const found = await cluster.storage.get({ resource, namespace: '', name });
  assert.ok(found !== undefined);
  return found;
}
