import assert from 'node:assert/strict';
import { type Any, ownerReference as of, type Scenario, type Scene } from '../scene.js';

const map = (name: string, ownerReferences: object[] = [], fields: object = {}) => ({
  metadata: { name, ownerReferences, ...fields },
});
const foreground = { propagationPolicy: 'Foreground' };
const isDeleting = ({ metadata }: Any) => metadata.deletionTimestamp !== undefined;

/** A definition of a custom kind, which is served when this resolves. */
async function definition(scene: Scene, prefix: string, subresources: object = {}): Promise<string> {
  const plural = `${prefix}${scene.namespace.replaceAll(/[^a-z0-9]/g, '')}`;
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: {} },
  };
  await scene.create('customresourcedefinitions', {
    metadata: { name: `${plural}.scenarios.example` },
    spec: {
      group: 'scenarios.example',
      scope: 'Namespaced',
      names: { plural, kind: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources }],
    },
  });
  await scene.until('customresourcedefinitions', `${plural}.scenarios.example`, 'established', ({ status }) =>
    status?.conditions?.some(({ type, status: is }: Any) => type === 'Established' && is === 'True'),
  );
  return plural;
}

/** Creates a custom object as soon as its kind is served. */
async function custom(scene: Scene, plural: string, body: object): Promise<Any> {
  const path = `/apis/scenarios.example/v1/namespaces/${scene.namespace}/${plural}`;
  const whole = { apiVersion: 'scenarios.example/v1', kind: plural, ...body };
  for (let tries = 0; ; tries++) {
    const answer = await scene.client.post(path, whole);
    if (answer.status === 201) return { apiVersion: 'scenarios.example/v1', kind: plural, ...answer.body };
    assert.ok(answer.status === 404 && tries < 100, answer.text);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export const owners: readonly Scenario[] = [
  {
    name: 'an owner in another namespace counts as none, and an event says so',
    run: async (scene) => {
      const name = `${scene.namespace}-other`;
      await scene.create('namespaces', { metadata: { name } });
      const answer = await scene.client.post(`/api/v1/namespaces/${name}/configmaps`, map('owner'));
      assert.equal(answer.status, 201, answer.text);
      await scene.create('configmaps', map('child', [of({ ...answer.body, kind: 'ConfigMap', apiVersion: 'v1' })]));
      await scene.untilGone('configmaps', 'child');
      await scene.delete('namespaces', name);
    },
  },
  {
    name: 'an owner of the cluster owns objects in namespaces',
    run: async (scene) => {
      const name = `owner-${scene.namespace}`;
      const made = await scene.create('priorityclasses', { metadata: { name }, value: 1 });
      const owner = { ...made, kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1' };
      await scene.create('configmaps', map('child', [of(owner)]));
      await scene.stays('it lives', async () => (await scene.list('configmaps')).some(isNamed('child')));
      await scene.delete('priorityclasses', name);
      await scene.untilGone('configmaps', 'child');
    },
  },
  {
    name: 'an object whose owner was made anew under the same name is removed',
    run: async (scene) => {
      const first = await scene.create('configmaps', map('owner'));
      await scene.create('configmaps', map('keeper'));
      await scene.delete('configmaps', 'owner');
      await scene.create('configmaps', map('owner'));
      await scene.create('configmaps', map('child', [of(first)]));
      await scene.untilGone('configmaps', 'child');
      assert.ok((await scene.list('configmaps')).some(isNamed('owner')));
    },
  },
  {
    name: 'foreground deletion goes down two levels, from below',
    run: async (scene) => {
      const top = await scene.create('configmaps', map('top'));
      const middle = await scene.create('configmaps', map('middle', [of(top, { blockOwnerDeletion: true })]));
      const held = { finalizers: ['example.com/hold'] };
      await scene.create('configmaps', map('bottom', [of(middle, { blockOwnerDeletion: true })], held));
      await scene.delete('configmaps', 'top', foreground);
      await scene.until('configmaps', 'bottom', 'being deleted', isDeleting);
      await scene.stays('both wait', async () => (await scene.list('configmaps')).filter(isDeleting).length === 3);
      await scene.patch('configmaps', 'bottom', { metadata: { finalizers: null } });
      await scene.untilGone('configmaps', 'top');
      await scene.untilGone('configmaps', 'middle');
    },
  },
  {
    name: 'a circle of owners goes when one of them is deleted in the foreground',
    run: async (scene) => {
      const one = await scene.create('configmaps', map('one'));
      const two = await scene.create('configmaps', map('two', [of(one, { blockOwnerDeletion: true })]));
      await scene.patch('configmaps', 'one', {
        metadata: { ownerReferences: [of(two, { blockOwnerDeletion: true })] },
      });
      await scene.delete('configmaps', 'one', foreground);
      await scene.untilGone('configmaps', 'one');
      await scene.untilGone('configmaps', 'two');
    },
  },
  {
    name: 'a dependent that comes while its owner is being deleted goes too',
    run: async (scene) => {
      const owner = await scene.create('configmaps', map('owner', [], { finalizers: ['example.com/hold'] }));
      await scene.create('configmaps', map('early', [of(owner, { blockOwnerDeletion: true })]));
      await scene.delete('configmaps', 'owner', foreground);
      await scene.untilGone('configmaps', 'early');
      await scene.create('configmaps', map('late', [of(owner, { blockOwnerDeletion: true })]));
      await scene.patch('configmaps', 'owner', { metadata: { finalizers: null } });
      await scene.untilGone('configmaps', 'owner');
      await scene.untilGone('configmaps', 'late');
    },
  },
  {
    name: 'a deletion that orphans wins over one that would not',
    run: async (scene) => {
      const owner = await scene.create('configmaps', map('owner', [], { finalizers: ['orphan'] }));
      await scene.create('configmaps', map('child', [of(owner)]));
      await scene.delete('configmaps', 'owner');
      await scene.untilGone('configmaps', 'owner');
      const child = await scene.get('configmaps', 'child');
      assert.equal((child.metadata.ownerReferences ?? []).length, 0);
    },
  },
  {
    name: 'custom objects block their owner as others do',
    upstream: 'release 1.20 looks for new kinds every 30 seconds',
    run: async (scene) => {
      const plural = await definition(scene, 'blocks');
      const owner = await scene.create('configmaps', map('owner'));
      const body = map('held', [of(owner, { blockOwnerDeletion: true })], { finalizers: ['example.com/hold'] });
      await custom(scene, plural, body);
      const path = `/apis/scenarios.example/v1/namespaces/${scene.namespace}/${plural}/held`;
      // The kind is new: the loops have to know it before they can wait for its objects.
      await scene.stays('it lives', async () => (await scene.client.get(path)).status === 200, 3000);
      await scene.delete('configmaps', 'owner', foreground);
      await scene.stays('the owner waits', async () => (await scene.list('configmaps')).some(isNamed('owner')));
      const answer = await scene.client.patch(path, 'merge', { metadata: { finalizers: null } });
      assert.equal(answer.status, 200, answer.text);
      await scene.untilGone('configmaps', 'owner');
      await scene.delete('customresourcedefinitions', `${plural}.scenarios.example`);
    },
  },
  {
    name: 'with a definition go its objects and what they own',
    upstream: 'release 1.20 keeps dependents whose owner is of a kind that nobody serves any more',
    run: async (scene) => {
      const plural = await definition(scene, 'goers');
      const owner = await custom(scene, plural, map('boss'));
      await scene.create('configmaps', map('child', [of(owner)]));
      await scene.delete('customresourcedefinitions', `${plural}.scenarios.example`);
      await scene.untilGone('customresourcedefinitions', `${plural}.scenarios.example`);
      await scene.untilGone('configmaps', 'child');
    },
  },
  {
    name: 'owners of a megabyte and dependents with large annotations go like others',
    run: async (scene) => {
      const owner = await scene.create('configmaps', { ...map('owner'), data: { text: 'x'.repeat(1_000_000) } });
      const annotations = { note: 'y'.repeat(250_000) };
      for (let i = 0; i < 12; i++) await scene.create('configmaps', map(`child-${i}`, [of(owner)], { annotations }));
      await scene.delete('configmaps', 'owner', foreground);
      await scene.untilGone('configmaps', 'owner');
      await scene.untilAll('configmaps', 'none', (all) => !all.some(({ metadata }) => /^child/.test(metadata.name)));
    },
  },
  {
    name: 'a namespace says which finalizers hold it',
    run: async (scene) => {
      const name = `${scene.namespace}-held`;
      await scene.create('namespaces', { metadata: { name } });
      const path = `/api/v1/namespaces/${name}/configmaps`;
      await scene.client.post(path, map('held', [], { finalizers: ['example.com/hold'] }));
      await scene.delete('namespaces', name);
      const waits = await scene.until('namespaces', name, 'a condition', ({ status }) =>
        status.conditions?.some(
          ({ type, status: is }: Any) => type === 'NamespaceFinalizersRemaining' && is === 'True',
        ),
      );
      const { message } = waits.status.conditions.find(({ type }: Any) => type === 'NamespaceFinalizersRemaining');
      assert.match(message, /example\.com\/hold in 1 resource instances/);
      const answer = await scene.client.patch(`${path}/held`, 'merge', { metadata: { finalizers: null } });
      assert.equal(answer.status, 200, answer.text);
      await scene.untilGone('namespaces', name);
    },
  },
  {
    name: 'a claim that nobody uses goes at once',
    run: async (scene) => {
      await scene.create('persistentvolumeclaims', {
        metadata: { name: 'idle' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'nobody',
          resources: { requests: { storage: '1Gi' } },
        },
      });
      await scene.delete('persistentvolumeclaims', 'idle');
      await scene.untilGone('persistentvolumeclaims', 'idle');
    },
  },
];

const isNamed =
  (name: string) =>
  ({ metadata }: Any) =>
    metadata.name === name;
