import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { loopParts } from '../../../../test/support/loop-parts.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { kind } from '../../../base/machinery/schema/index.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { customResourceDefinitionResource } from '../../../modules/apiextensions/custom-resource-definition/custom-resource-definition.resource.js';
import { leaseResource } from '../../../modules/coordination/lease/lease.resource.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { setCondition } from '../../../objects/custom-resources/definition/definition-conditions.js';
import { defineResource } from '../../../objects/registry/resource-definition.js';
import { ResourceRegistry, type StoredServedResource } from '../../../objects/registry/resource-registry.js';
import { Store } from '../../../objects/registry/store/store.js';
import { createPostgresStorage, type PostgresStorage } from '../../../storage/postgres/postgres-storage.js';
import { endedDefinitions } from '../../../storage/storage.interface.js';
import { workContext } from '../work-context.js';
import { DefinitionCleanupController } from './definition-cleanup.controller.js';
import { DefinitionStatusController } from './definition-status.controller.js';

const names = vendorNames('k8s.io');
const group = 'apiextensions.k8s.io';
const resource = `customresourcedefinitions.${group}`;
const context = workContext('test', 0, new AbortController().signal);
const options = { dryRun: false, validate: async () => {} };

let postgres: TestPostgres;
before(async () => {
  postgres = await startTestPostgres();
});
after(() => postgres.stop());

function definition(plural: string, kindName: string, more: Partial<CustomResourceDefinitionNames> = {}): ApiObject {
  const schema = { openAPIV3Schema: { type: 'object' } };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, singular: kindName.toLowerCase(), kind: kindName, listKind: `${kindName}List`, ...more },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

/** A database with definitions, as one process sees it. */
class Cluster {
  readonly registry = new ResourceRegistry();
  readonly definitions: Store;

  constructor(readonly storage: PostgresStorage) {
    this.registry.register(customResourceDefinitionResource(names, systemClock));
    this.registry.register(leaseResource(names));
    const served = this.registry.findStoredResource(group, 'v1', 'customresourcedefinitions') as StoredServedResource;
    this.definitions = new Store(served, storage, systemClock);
  }

  async create(object: ApiObject): Promise<CustomResourceDefinition> {
    return JSON.parse((await this.definitions.create(context, object, options)).json) as CustomResourceDefinition;
  }

  async delete(name: string): Promise<void> {
    await this.definitions.delete(context, '', name, { dryRun: false, validate: async () => {} });
  }

  /** The store of a custom kind. */
  instances({ metadata, spec }: CustomResourceDefinition): Store {
    const registry = new ResourceRegistry();
    const { plural, kind: kindName } = spec.names;
    registry.register(
      defineResource({
        group: spec.group,
        resource: plural,
        singular: plural,
        kind: kindName,
        namespaced: true,
        versions: [{ version: 'v1', type: kind({ group: spec.group, version: 'v1', kind: kindName }, {}) }],
        strategy: {},
        definedBy: { resource, name: metadata.name as string, uid: metadata.uid as string },
      }),
    );
    const served = registry.findStoredResource(spec.group, 'v1', plural) as StoredServedResource;
    return new Store(served, this.storage, systemClock);
  }

  /** Resolves with the result of testing the definition; fails after ten seconds. */
  async when<T>(name: string, test: (object: CustomResourceDefinition | undefined) => T | undefined): Promise<T> {
    const key = { resource, namespace: '', name };
    const subscription = await this.storage.watch(key, await this.storage.head());
    const timer = setTimeout(() => subscription.close(), 60_000);
    try {
      for (;;) {
        const found = await this.storage.get(key);
        const object = found === undefined ? undefined : (JSON.parse(found.json) as CustomResourceDefinition);
        const result = test(object);
        if (result !== undefined) return result;
        if ((await subscription.next()) === undefined) throw new Error(`${name} is ${JSON.stringify(object)}`);
      }
    } finally {
      clearTimeout(timer);
      subscription.close();
    }
  }

  /** The conditions as `type status reason: message`, once one of them matches. */
  conditionsWhen(name: string, reason: string): Promise<string[]> {
    return this.when(name, (object) => {
      const conditions = object?.status.conditions ?? [];
      if (!conditions.some((condition) => condition.reason === reason)) return undefined;
      return conditions.map((c) => `${c.type} ${c.status} ${c.reason}: ${c.message}`);
    });
  }

  async isGone(name: string): Promise<void> {
    await this.when(name, (object) => (object === undefined ? true : undefined));
  }
}

/** Runs the loops of one process during `use`, which sees the database through another. */
async function withLoops(use: (cluster: Cluster, other: Cluster) => Promise<void>): Promise<void> {
  const databaseUrl = await postgres.createTestDatabase();
  const [storage, otherStorage] = await Promise.all([
    createPostgresStorage({ databaseUrl }),
    createPostgresStorage({ databaseUrl }),
  ]);
  const [cluster, other] = [new Cluster(storage), new Cluster(otherStorage)];
  const stop = new AbortController();
  const parts = loopParts({ storage, registry: cluster.registry });
  const running = [new DefinitionStatusController(parts), new DefinitionCleanupController(parts)].map((loop) =>
    loop.run(stop.signal),
  );
  try {
    await use(cluster, other);
  } finally {
    stop.abort();
    await Promise.all(running);
    await Promise.all([storage.stop(), otherStorage.stop()]);
  }
}

const noConflicts = 'NamesAccepted True NoConflicts: no conflicts found';
const established = 'Established True InitialNamesAccepted: the initial names have been accepted';
const notAccepted = 'Established False NotAccepted: not all names are accepted';

describe('names of definitions', () => {
  it('are accepted when they are free, and then the definition is established', () =>
    withLoops(async (_cluster, other) => {
      const made = definition('shelves', 'Shelf', { shortNames: ['sh'], categories: ['all'] });
      const creator = {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'apiextensions.k8s.io/v1',
        fieldsType: 'FieldsV1',
      };
      made.metadata.managedFields = [{ ...creator, fieldsV1: { 'f:spec': { 'f:group': {} } } }];
      const { spec } = await other.create(made);
      assert.deepEqual(await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted'), [
        noConflicts,
        established,
      ]);
      const { acceptedNames } = await other.when('shelves.example.com', (object) => object?.status);
      assert.deepEqual(acceptedNames, spec.names);
      const { managedFields = [] } = await other.when('shelves.example.com', (object) => object?.metadata);
      const owner = managedFields.find(({ subresource }) => subresource === 'status');
      assert.deepEqual([owner?.operation, owner?.manager], ['Update', names.fieldManagers.server]);
      const owned = owner?.fieldsV1 as Record<string, object> | undefined;
      assert.deepEqual(Object.keys(owned?.['f:status'] ?? {}), ['f:acceptedNames', 'f:conditions']);
    }));

  it('go to the first, and to the second when the first is gone', () =>
    withLoops(async (_cluster, other) => {
      await other.create(definition('shelves', 'Shelf', { shortNames: ['sh'] }));
      await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
      await other.create(definition('racks', 'Shelf', { singular: 'rack', shortNames: ['sh', 'shelf', 'rk'] }));
      assert.deepEqual(await other.conditionsWhen('racks.example.com', 'NotAccepted'), [
        'NamesAccepted False ListKindConflict: "ShelfList" is already in use',
        notAccepted,
      ]);
      const { acceptedNames } = await other.when('racks.example.com', (object) => object?.status);
      assert.deepEqual(acceptedNames, { plural: 'racks', singular: 'rack', kind: '' });
      await other.delete('shelves.example.com');
      assert.deepEqual(await other.conditionsWhen('racks.example.com', 'InitialNamesAccepted'), [
        noConflicts,
        established,
      ]);
    }));

  it('of many definitions that are created at once go to one each', () =>
    withLoops(async (_cluster, other) => {
      const plurals = Array.from({ length: 30 }, (_, i) => `things${i}`);
      await Promise.all(plurals.map((plural) => other.create(definition(plural, 'Thing', { singular: plural }))));
      const reasons = await Promise.all(
        plurals.map((plural) =>
          other.when(`${plural}.example.com`, (object) => object?.status.conditions?.[0]?.reason),
        ),
      );
      assert.equal(reasons.filter((reason) => reason === 'NoConflicts').length, 1);
      assert.equal(reasons.filter((reason) => reason === 'ListKindConflict').length, 29);
    }));

  it('are not those of built-in kinds, whose objects stay', () =>
    withLoops(async (cluster, other) => {
      const lease = { resource: 'leases.coordination.k8s.io', namespace: 'default', name: 'a' };
      await cluster.storage.create(lease, 'u', '{}');
      const object = definition('leases', 'Leash');
      const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
      object.metadata = { name: 'leases.coordination.k8s.io', annotations };
      (object.spec as { group: string }).group = 'coordination.k8s.io';
      await other.create(object);
      assert.deepEqual(await other.conditionsWhen('leases.coordination.k8s.io', 'PluralConflict'), [
        'NamesAccepted False PluralConflict: "leases" is already in use',
        notAccepted,
        'KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation: not approved: "unapproved, a test"',
      ]);
      await other.delete('leases.coordination.k8s.io');
      await other.isGone('leases.coordination.k8s.io');
      assert.equal((await cluster.storage.get(lease))?.uid, 'u');
    }));
});

describe('a schema that is not structural', () => {
  it('is shown by a condition until it is mended', () =>
    withLoops(async (cluster, other) => {
      await other.create(definition('shelves', 'Shelf'));
      await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
      const key = { resource, namespace: '', name: 'shelves.example.com' };
      const store = (schema: object) =>
        cluster.storage.guaranteedUpdate(key, {}, (current) => {
          const object = JSON.parse(current?.json ?? '') as CustomResourceDefinition;
          const [version] = object.spec.versions ?? [];
          object.spec.versions = [{ ...(version as NonNullable<typeof version>), schema: { openAPIV3Schema: schema } }];
          object.metadata.generation = Number(object.metadata.generation) + 1;
          return { kind: 'write', uid: current?.uid as string, json: JSON.stringify(object) };
        });
      await store({ type: 'object', properties: { spec: {} } });
      const conditions = await other.conditionsWhen('shelves.example.com', 'Violations');
      assert.equal(
        conditions.at(-1),
        'NonStructuralSchema True Violations: spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
      );
      await store({ type: 'object' });
      await other.when('shelves.example.com', (object) =>
        object?.status.conditions?.some(({ type }) => type === 'NonStructuralSchema') === false ? true : undefined,
      );
    }));
});

describe('the end of a definition', () => {
  it('is not begun by a status that somebody writes', () =>
    withLoops(async (cluster, other) => {
      await other.create(definition('shelves', 'Shelf'));
      await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
      const key = { resource, namespace: '', name: 'shelves.example.com' };
      await cluster.storage.guaranteedUpdate(key, {}, (current) => {
        const object = JSON.parse(current?.json ?? '') as CustomResourceDefinition;
        const status = { ...object.status };
        setCondition(status, { type: 'Terminating', status: 'True', reason: 'Wrong', message: '' }, 0);
        return { kind: 'write', uid: current?.uid as string, json: JSON.stringify({ ...object, status }) };
      });
      const types = await other.when('shelves.example.com', (object) => {
        const found = (object?.status.conditions ?? []).map(({ type }) => type);
        return found.includes('Terminating') ? undefined : found;
      });
      assert.deepEqual(types, ['NamesAccepted', 'Established']);
    }));

  it('takes all objects along, in every namespace, and leaves no mark behind', () =>
    withLoops(async (cluster, other) => {
      const shelves = await other.create(definition('shelves', 'Shelf'));
      await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
      const store = other.instances(shelves);
      const made = Array.from({ length: 40 }, (_, i) => ({ name: `s${i}`, namespace: `n${i % 3}` }));
      await Promise.all(made.map((metadata) => store.create(context, { metadata }, options)));
      await other.delete('shelves.example.com');
      await other.isGone('shelves.example.com');
      assert.equal((await cluster.storage.list({ resource: 'shelves.example.com' })).items.length, 0);
      const bookmarks = await cluster.storage.watch({ resource: endedDefinitions }, await cluster.storage.head());
      while ((await cluster.storage.list({ resource: endedDefinitions })).items.length > 0) await bookmarks.next();
      bookmarks.close();
    }));

  it('waits for finalizers, and lets nothing be created meanwhile', () =>
    withLoops(async (_cluster, other) => {
      const shelves = await other.create(definition('shelves', 'Shelf'));
      await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
      const store = other.instances(shelves);
      const held = { name: 'held', namespace: 'default', finalizers: ['example.com/wait'] };
      await store.create(context, { metadata: held, spec: { big: 12345 } }, options);
      await store.create(context, { metadata: { name: 'free', namespace: 'default' } }, options);
      await other.delete('shelves.example.com');
      assert.deepEqual(
        (await other.conditionsWhen('shelves.example.com', 'InstanceDeletionCheck')).at(-1),
        [
          'Terminating True InstanceDeletionCheck:',
          'could not confirm zero CustomResources remaining: 1 wait for their finalizers',
        ].join(' '),
      );
      const late = store.create(context, { metadata: { name: 'late', namespace: 'default' } }, options);
      await assert.rejects(late, (error) => {
        assert.ok(error instanceof StatusError);
        assert.equal(error.reason, 'MethodNotAllowed');
        assert.equal(error.message, 'create not allowed while custom resource definition is terminating');
        return true;
      });
      const marked = JSON.parse((await store.get('default', 'held')).json) as ApiObject;
      assert.ok(marked.metadata.deletionTimestamp !== undefined);
      assert.deepEqual(marked.spec, { big: 12345 });
      await store.update(context, 'default', 'held', {
        ...options,
        transform: (live) => ({ ...(live as ApiObject), metadata: { ...live?.metadata, finalizers: [] } }),
      });
      await other.isGone('shelves.example.com');
    }));

  it('leaves nothing behind that another process creates at the same time', () =>
    withLoops(async (cluster, other) => {
      for (let round = 0; round < 5; round++) {
        const shelves = await other.create(definition('shelves', 'Shelf'));
        await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
        const store = other.instances(shelves);
        const deadline = performance.now() + 60_000;
        let refused = false;
        let made = 0;
        const writer = async (w: number) => {
          for (let i = 0; !refused && performance.now() < deadline; i++) {
            try {
              await store.create(context, { metadata: { name: `w${w}-${i}`, namespace: 'default' } }, options);
              made++;
            } catch (error) {
              if (!(error instanceof StatusError) || error.reason !== 'MethodNotAllowed') throw error;
              refused = true;
            }
          }
        };
        const writers = [1, 2, 3, 4].map(writer);
        while (made === 0 && !refused) await nextRound();
        await other.delete('shelves.example.com');
        await Promise.all(writers);
        await cluster.isGone('shelves.example.com');
        assert.ok(made > 0);
        assert.deepEqual((await cluster.storage.list({ resource: 'shelves.example.com' })).items, []);
      }
    }));

  it('does not depend on the schema, nor on the versions', () =>
    withLoops(async (cluster, other) => {
      const shelves = await other.create(definition('shelves', 'Shelf'));
      await other.conditionsWhen('shelves.example.com', 'InitialNamesAccepted');
      await other.instances(shelves).create(context, { metadata: { name: 'a', namespace: 'default' } }, options);
      const key = { resource, namespace: '', name: 'shelves.example.com' };
      await cluster.storage.guaranteedUpdate(key, {}, (current) => {
        const object = JSON.parse(current?.json ?? '') as CustomResourceDefinition;
        object.spec.versions = [];
        return { kind: 'write', uid: current?.uid as string, json: JSON.stringify(object) };
      });
      await other.delete('shelves.example.com');
      await other.isGone('shelves.example.com');
      assert.deepEqual((await cluster.storage.list({ resource: 'shelves.example.com' })).items, []);
    }));
});
