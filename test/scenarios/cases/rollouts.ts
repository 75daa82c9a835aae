import assert from 'node:assert/strict';
import {
  type Any,
  condition,
  deployment,
  isReady,
  ownedBy,
  pretend,
  type Scenario,
  type Scene,
  template,
} from '../scene.js';

const revision = 'deployment.kubernetes.io/revision';
const hash = 'pod-template-hash';
const setImage = (scene: Scene, name: string, image: string) =>
  scene.patch('deployments', name, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } });
const rolled = (scene: Scene, name: string, replicas: number) =>
  scene.until('deployments', name, 'rolled out', ({ metadata, spec, status }) => {
    const { observedGeneration, updatedReplicas, availableReplicas, replicas: all } = status ?? {};
    if (observedGeneration !== metadata.generation || spec.replicas !== replicas) return false;
    return replicas === 0 ? (all ?? 0) === 0 : [updatedReplicas, availableReplicas, all].every((n) => n === replicas);
  });
const replicaSet = (name: string, replicas: number, pod: object = template({ app: name })) => ({
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: pod },
});

export const rollouts: readonly Scenario[] = [
  {
    name: 'the hash of the template is in the labels of set and pods, and in the selector',
    run: async (scene) => {
      const made = await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      const [set] = await scene.list('replicasets');
      const value = set.metadata.labels[hash];
      assert.equal(set.metadata.name, `web-${value}`);
      assert.equal(set.spec.selector.matchLabels[hash], value);
      assert.ok(ownedBy(made.metadata.uid)(set));
      assert.ok((await scene.list('pods')).every(({ metadata }) => metadata.labels[hash] === value));
    },
  },
  {
    name: 'a deployment without ready pods says that it is not available',
    run: async (scene) => {
      const pods = template({ app: 'web' }, pretend({ 'ready-after': 'never' }));
      await scene.create('deployments', deployment('web', 2, {}, pods));
      const waits = await scene.until(
        'deployments',
        'web',
        'unavailable',
        ({ status }) => status?.unavailableReplicas === 2,
      );
      const available = condition(waits, 'Available');
      assert.deepEqual([available.status, available.reason], ['False', 'MinimumReplicasUnavailable']);
      assert.equal(waits.status.availableReplicas, undefined);
    },
  },
  {
    name: 'a deployment scales to nothing and back',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 0 } });
      await rolled(scene, 'web', 0);
      await scene.untilAll('pods', 'none', (pods) => pods.length === 0);
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 3 } });
      await rolled(scene, 'web', 3);
      assert.equal((await scene.list('replicasets')).length, 1);
    },
  },
  {
    name: 'the cause of a change goes to the replica set of its revision',
    run: async (scene) => {
      const cause = 'kubernetes.io/change-cause';
      const first = deployment('web', 1);
      await scene.create('deployments', { ...first, metadata: { name: 'web', annotations: { [cause]: 'first' } } });
      await rolled(scene, 'web', 1);
      await scene.patch('deployments', 'web', { metadata: { annotations: { [cause]: 'second' } } });
      await setImage(scene, 'web', 'web:2');
      await rolled(scene, 'web', 1);
      const sets = await scene.list('replicasets');
      const reported = sets
        .map(({ metadata }) => `${metadata.annotations[revision]} ${metadata.annotations[cause]}`)
        .sort();
      assert.equal(reported[1], '2 second');
    },
  },
  {
    name: 'no history is kept when none is wanted',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 1, { revisionHistoryLimit: 0 }));
      await rolled(scene, 'web', 1);
      await setImage(scene, 'web', 'web:2');
      await rolled(scene, 'web', 1);
      const [set] = await scene.untilAll('replicasets', 'one', (sets) => sets.length === 1);
      assert.equal(set.metadata.annotations[revision], '2');
    },
  },
  {
    name: 'a deployment takes back the replica set that it was parted from',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      const [set] = await scene.list('replicasets');
      await scene.delete('deployments', 'web', { propagationPolicy: 'Orphan' });
      await scene.untilGone('deployments', 'web');
      const again = await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      const [taken, ...others] = await scene.list('replicasets');
      assert.equal(others.length, 0);
      assert.equal(taken.metadata.uid, set.metadata.uid);
      assert.ok(ownedBy(again.metadata.uid)(taken));
    },
  },
  {
    name: 'a paused deployment can still be scaled',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 1));
      await rolled(scene, 'web', 1);
      await scene.patch('deployments', 'web', { spec: { paused: true } });
      await setImage(scene, 'web', 'web:2');
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 3 } });
      const pods = await scene.untilAll('pods', 'three', (all) => all.filter(isReady).length === 3);
      assert.ok(pods.every(({ spec }) => spec.containers[0].image === 'web:1'));
    },
  },
  {
    name: 'a replica set that is deleted comes back',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      const [set] = await scene.list('replicasets');
      await scene.delete('replicasets', set.metadata.name, { propagationPolicy: 'Background' });
      await scene.untilAll(
        'replicasets',
        'another',
        ([one]) => one !== undefined && one.metadata.uid !== set.metadata.uid,
      );
      await scene.untilAll('pods', 'two', (all) => all.length === 2 && all.every(isReady));
    },
  },
  {
    name: 'a larger deployment grows in proportion while a rollout is stuck',
    run: async (scene) => {
      const spec = { strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 2 } } };
      await scene.create('deployments', deployment('web', 8, spec));
      await rolled(scene, 'web', 8);
      await setImage(scene, 'web', 'bad:1');
      const sizes = (sets: Any[]) =>
        sets
          .toSorted((a, b) => a.metadata.annotations[revision] - b.metadata.annotations[revision])
          .map((set) => set.spec.replicas);
      await scene.untilAll('replicasets', 'stuck', (sets) => sizes(sets).join() === '6,4');
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 16 } });
      const sets = await scene.untilAll('replicasets', 'grown', (all) => sizes(all).reduce((a, b) => a + b, 0) === 18);
      const [old = 0, young = 0] = sizes(sets);
      assert.ok(old > 6 && young > 4, `${old} and ${young}`);
    },
  },
  {
    name: 'a replica set gives up pods that are not ready first',
    run: async (scene) => {
      await scene.create('replicasets', replicaSet('web', 2));
      const kept = await scene.untilAll('pods', 'two', (all) => all.filter(isReady).length === 2);
      const change = { spec: { replicas: 4, template: template({ app: 'web' }, pretend({ 'ready-after': 'never' })) } };
      await scene.patch('replicasets', 'web', change);
      await scene.untilAll('pods', 'four', (all) => all.length === 4);
      await scene.patch('replicasets', 'web/scale', { spec: { replicas: 2 } });
      const left = await scene.untilAll('pods', 'two left', (all) => all.length === 2);
      const uids = (pods: Any[]) => pods.map(({ metadata }) => metadata.uid).sort();
      assert.deepEqual(uids(left), uids(kept));
    },
  },
  {
    name: 'a replica set gives up cheap pods first',
    since: '1.21',
    run: async (scene) => {
      await scene.create('replicasets', replicaSet('web', 3));
      const pods = await scene.untilAll('pods', 'three', (all) => all.filter(isReady).length === 3);
      const [cheap] = pods;
      const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-10' };
      await scene.patch('pods', cheap.metadata.name, { metadata: { annotations } });
      await scene.patch('replicasets', 'web/scale', { spec: { replicas: 2 } });
      await scene.untilGone('pods', cheap.metadata.name);
    },
  },
  {
    name: 'too many pods that a replica set finds are removed',
    run: async (scene) => {
      for (const name of ['a', 'b', 'c']) {
        await scene.create('pods', { metadata: { name, labels: { app: 'web' } }, spec: template({}).spec });
      }
      await scene.create('replicasets', replicaSet('web', 1));
      await scene.until('replicasets', 'web', 'one', ({ status }) => status?.readyReplicas === 1);
      await scene.untilAll('pods', 'one', (all) => all.length === 1);
    },
  },
  {
    name: 'a pod that failed is replaced, and kept to be looked at',
    run: async (scene) => {
      await scene.create('replicasets', replicaSet('web', 1));
      const [first] = await scene.untilAll('pods', 'one', (all) => all.filter(isReady).length === 1);
      const answer = await scene.client.patch(scene.path('pods', `${first.metadata.name}/status`), 'merge', {
        status: { phase: 'Failed', reason: 'Evicted' },
      });
      assert.equal(answer.status, 200, answer.text);
      const pods = await scene.untilAll('pods', 'another', (all) => all.length === 2);
      assert.ok(pods.some(({ metadata, status }) => metadata.uid === first.metadata.uid && status.phase === 'Failed'));
    },
  },
  {
    name: 'a daemon set leaves nodes that its selector no longer names',
    run: async (scene) => {
      const key = `agent.example/${scene.namespace}`;
      const [node] = await scene.list('nodes');
      await scene.patch('nodes', node.metadata.name, { metadata: { labels: { [key]: 'yes' } } });
      const spec = {
        selector: { matchLabels: { app: 'agent' } },
        template: template({ app: 'agent' }, {}, { nodeSelector: { [key]: 'yes' } }),
      };
      await scene.create('daemonsets', { metadata: { name: 'agent' }, spec });
      await scene.until('daemonsets', 'agent', 'one', ({ status }) => status?.numberReady === 1);
      await scene.patch('nodes', node.metadata.name, { metadata: { labels: { [key]: null } } });
      await scene.until('daemonsets', 'agent', 'none', ({ status }) => status.desiredNumberScheduled === 0);
      await scene.untilAll('pods', 'none', (all) => all.length === 0);
    },
  },
];
