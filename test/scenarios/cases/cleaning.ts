import assert from 'node:assert/strict';
import { deployment, isReady, type Scenario, template } from '../scene.js';

const ownerOf = (object: { metadata: { name: string; uid: string } }, fields: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: object.metadata.name,
  uid: object.metadata.uid,
  ...fields,
});

export const cleaning: readonly Scenario[] = [
  {
    name: 'background deletion removes dependents afterwards',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await scene.untilAll('pods', 'two', (pods) => pods.filter(isReady).length === 2);
      await scene.delete('deployments', 'web', { propagationPolicy: 'Background' });
      await scene.untilGone('deployments', 'web');
      await scene.untilAll('replicasets', 'none', (all) => all.length === 0);
      await scene.untilAll('pods', 'none', (all) => all.length === 0);
    },
  },
  {
    name: 'foreground deletion removes dependents first',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await scene.untilAll('pods', 'two', (pods) => pods.filter(isReady).length === 2);
      await scene.delete('deployments', 'web', { propagationPolicy: 'Foreground' });
      await scene.untilGone('deployments', 'web');
      assert.equal((await scene.list('replicasets')).length, 0);
      assert.equal((await scene.list('pods')).length, 0);
    },
  },
  {
    name: 'orphaning deletion keeps dependents without their owner',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await scene.untilAll('pods', 'two', (pods) => pods.filter(isReady).length === 2);
      const [set] = await scene.list('replicasets');
      await scene.delete('deployments', 'web', { propagationPolicy: 'Orphan' });
      await scene.untilGone('deployments', 'web');
      const kept = await scene.get('replicasets', set.metadata.name);
      assert.equal(kept.metadata.uid, set.metadata.uid);
      assert.equal((kept.metadata.ownerReferences ?? []).length, 0);
      assert.equal((await scene.list('pods')).length, 2);
    },
  },
  {
    name: 'an object whose owner does not exist is removed',
    run: async (scene) => {
      const nobody = { metadata: { name: 'nobody', uid: '00000000-0000-0000-0000-000000000001' } };
      await scene.create('configmaps', { metadata: { name: 'child', ownerReferences: [ownerOf(nobody)] } });
      await scene.untilGone('configmaps', 'child');
    },
  },
  {
    name: 'an object with one of two owners left stays, without the other',
    run: async (scene) => {
      const first = await scene.create('configmaps', { metadata: { name: 'first' } });
      const second = await scene.create('configmaps', { metadata: { name: 'second' } });
      await scene.create('configmaps', {
        metadata: { name: 'child', ownerReferences: [ownerOf(first), ownerOf(second)] },
      });
      await scene.delete('configmaps', 'first');
      const child = await scene.until(
        'configmaps',
        'child',
        'one owner',
        ({ metadata }) => metadata.ownerReferences.length === 1,
      );
      assert.equal(child.metadata.ownerReferences[0].name, 'second');
      await scene.delete('configmaps', 'second');
      await scene.untilGone('configmaps', 'child');
    },
  },
  {
    name: 'a chain of owners goes as a whole',
    run: async (scene) => {
      let owner = await scene.create('configmaps', { metadata: { name: 'link-0' } });
      for (let i = 1; i < 6; i++) {
        owner = await scene.create('configmaps', {
          metadata: { name: `link-${i}`, ownerReferences: [ownerOf(owner)] },
        });
      }
      await scene.delete('configmaps', 'link-0');
      await scene.untilGone('configmaps', 'link-5');
    },
  },
  {
    name: 'a dependent that does not block lets its owner go first',
    run: async (scene) => {
      const owner = await scene.create('configmaps', { metadata: { name: 'owner' } });
      const ownerReferences = [ownerOf(owner, { blockOwnerDeletion: false })];
      await scene.create('configmaps', {
        metadata: { name: 'held', finalizers: ['example.com/hold'], ownerReferences },
      });
      await scene.delete('configmaps', 'owner', { propagationPolicy: 'Foreground' });
      await scene.untilGone('configmaps', 'owner');
      await scene.until(
        'configmaps',
        'held',
        'being deleted',
        ({ metadata }) => metadata.deletionTimestamp !== undefined,
      );
      await scene.patch('configmaps', 'held', { metadata: { finalizers: null } });
      await scene.untilGone('configmaps', 'held');
    },
  },
  {
    name: 'a dependent that blocks holds its owner',
    run: async (scene) => {
      const owner = await scene.create('configmaps', { metadata: { name: 'owner' } });
      const ownerReferences = [ownerOf(owner, { blockOwnerDeletion: true })];
      await scene.create('configmaps', {
        metadata: { name: 'held', finalizers: ['example.com/hold'], ownerReferences },
      });
      await scene.delete('configmaps', 'owner', { propagationPolicy: 'Foreground' });
      await scene.until(
        'configmaps',
        'held',
        'being deleted',
        ({ metadata }) => metadata.deletionTimestamp !== undefined,
      );
      await scene.stays(
        'the owner waits',
        async () => (await scene.client.get(scene.path('configmaps', 'owner'))).status === 200,
      );
      await scene.patch('configmaps', 'held', { metadata: { finalizers: null } });
      await scene.untilGone('configmaps', 'owner');
    },
  },
  {
    name: 'a namespace goes with everything in it',
    run: async (scene) => {
      const { client } = scene;
      const name = `${scene.namespace}-inner`;
      await client.post('/api/v1/namespaces', { metadata: { name } });
      const below = `/apis/apps/v1/namespaces/${name}/deployments`;
      const made = await client.post(below, deployment('web', 3));
      assert.equal(made.status, 201, made.text);
      for (let i = 0; i < 20; i++) {
        await client.post(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: `m-${i}` } });
      }
      await scene.delete('namespaces', name);
      await scene.untilGone('namespaces', name);
    },
  },
  {
    name: 'custom resources own and are owned',
    run: async (scene) => {
      const plural = `owners${scene.namespace.replaceAll(/[^a-z0-9]/g, '')}`;
      await scene.create('customresourcedefinitions', {
        metadata: { name: `${plural}.scenarios.example` },
        spec: {
          group: 'scenarios.example',
          scope: 'Namespaced',
          names: { plural, kind: `Owner${plural}` },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      });
      const path = `/apis/scenarios.example/v1/namespaces/${scene.namespace}/${plural}`;
      await scene.until('customresourcedefinitions', `${plural}.scenarios.example`, 'established', ({ status }) =>
        (status?.conditions ?? []).some(
          ({ type, status: is }: { type: string; status: string }) => type === 'Established' && is === 'True',
        ),
      );
      const body = { apiVersion: 'scenarios.example/v1', kind: `Owner${plural}`, metadata: { name: 'boss' } };
      let owner = await scene.client.post(path, body);
      for (let i = 0; owner.status === 404 && i < 50; i++) owner = await scene.client.post(path, body);
      assert.equal(owner.status, 201, owner.text);
      const { uid } = owner.body.metadata;
      const reference = { apiVersion: 'scenarios.example/v1', kind: `Owner${plural}`, name: 'boss', uid };
      await scene.create('configmaps', { metadata: { name: 'child', ownerReferences: [reference] } });
      await scene.stays(
        'it lives',
        async () => (await scene.client.get(scene.path('configmaps', 'child'))).status === 200,
      );
      await scene.client.delete(`${path}/boss`);
      await scene.untilGone('configmaps', 'child');
      await scene.delete('customresourcedefinitions', `${plural}.scenarios.example`);
    },
  },
  {
    name: 'quota shows what is used, and less after a deletion',
    run: async (scene) => {
      await scene.create('resourcequotas', {
        metadata: { name: 'all' },
        spec: { hard: { configmaps: '50', pods: '10' } },
      });
      await scene.create('pods', { metadata: { name: 'a' }, spec: template({}).spec });
      await scene.until('resourcequotas', 'all', 'one pod', ({ status }) => status.used?.pods === '1');
      await scene.delete('pods', 'a', { gracePeriodSeconds: 0 });
      await scene.until('resourcequotas', 'all', 'no pods', ({ status }) => status.used?.pods === '0');
    },
  },
];
