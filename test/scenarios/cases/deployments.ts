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
const done = (replicas: number) => (d: Any) =>
  d.status.observedGeneration === d.metadata.generation &&
  (d.status.replicas ?? 0) === replicas &&
  (d.status.updatedReplicas ?? 0) === replicas &&
  (d.status.availableReplicas ?? 0) === replicas;

async function rolled(scene: Scene, name: string, replicas: number): Promise<Any> {
  return scene.until('deployments', name, `${replicas} available`, done(replicas));
}

const setImage = (scene: Scene, name: string, image: string) =>
  scene.patch('deployments', name, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } });

export const deployments: readonly Scenario[] = [
  {
    name: 'a deployment makes one replica set with its pods, and says that it is available',
    run: async (scene) => {
      const made = await scene.create('deployments', deployment('web', 3));
      const web = await rolled(scene, 'web', 3);
      assert.equal(web.metadata.annotations[revision], '1');
      assert.equal(condition(web, 'Available').reason, 'MinimumReplicasAvailable');
      const settled = await scene.until(
        'deployments',
        'web',
        'NewReplicaSetAvailable',
        (d) => condition(d, 'Progressing')?.reason === 'NewReplicaSetAvailable',
      );
      assert.match(condition(settled, 'Progressing').message, /^ReplicaSet "web-\w+" has successfully progressed\.$/);
      const sets = await scene.list('replicasets');
      assert.equal(sets.length, 1);
      assert.ok(ownedBy(made.metadata.uid)(sets[0]));
      const hash = sets[0].metadata.labels['pod-template-hash'];
      assert.equal(sets[0].metadata.name, `web-${hash}`);
      const pods = await scene.list('pods', `pod-template-hash=${hash}`);
      assert.equal(pods.length, 3);
      assert.ok(
        pods.every((pod) => ownedBy(sets[0].metadata.uid)(pod) && pod.metadata.name.startsWith(`web-${hash}-`)),
      );
      assert.match(await scene.event('ScalingReplicaSet', 'web'), /^Scaled up replica set web-\w+ (from 0 )?to 3$/);
      assert.match(await scene.event('SuccessfulCreate', 'web-'), /^Created pod: web-/);
    },
  },
  {
    name: 'a new template rolls out, and undo brings the first back',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 3));
      await rolled(scene, 'web', 3);
      await setImage(scene, 'web', 'web:2');
      const second = await rolled(scene, 'web', 3);
      assert.equal(second.metadata.annotations[revision], '2');
      await scene.untilAll(
        'pods',
        'only new pods',
        (pods) => pods.length === 3 && pods.every((p) => p.spec.containers[0].image === 'web:2'),
      );
      const sets = await scene.list('replicasets');
      assert.deepEqual(sets.map(({ metadata, spec }) => [metadata.annotations[revision], spec.replicas]).sort(), [
        ['1', 0],
        ['2', 3],
      ]);
      await setImage(scene, 'web', 'web:1');
      const third = await rolled(scene, 'web', 3);
      assert.equal(third.metadata.annotations[revision], '3');
      const after = await scene.list('replicasets');
      assert.equal(after.length, 2, 'the old replica set is used again');
      const [first] = after.filter(({ spec }) => spec.replicas === 3);
      assert.equal(first.spec.template.spec.containers[0].image, 'web:1');
      assert.equal(first.metadata.annotations['deployment.kubernetes.io/revision-history'], '1');
    },
  },
  {
    name: 'a rolling update keeps to surge and unavailable',
    run: async (scene) => {
      const spec = { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } };
      const slow = template({ app: 'web' }, pretend({ 'ready-after': '0.3' }));
      await scene.create('deployments', deployment('web', 4, spec, slow));
      await rolled(scene, 'web', 4);
      let most = 0;
      let least = 4;
      let watching = true;
      const watch = (async () => {
        while (watching) {
          const sets = await scene.list('replicasets');
          most = Math.max(
            most,
            sets.reduce((sum, { spec: { replicas } }) => sum + replicas, 0),
          );
          least = Math.min(least, (await scene.list('pods')).filter(isReady).length);
        }
      })();
      await setImage(scene, 'web', 'web:2');
      await rolled(scene, 'web', 4);
      watching = false;
      await watch;
      assert.ok(most <= 5, `${most} pods wanted at once`);
      assert.ok(least >= 4, `only ${least} ready pods`);
    },
  },
  {
    name: 'Recreate ends what runs in all old pods before it makes the first new one',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 3, { strategy: { type: 'Recreate' } }));
      await rolled(scene, 'web', 3);
      let together = false;
      let watching = true;
      const watch = (async () => {
        while (watching) {
          const living = (await scene.list('pods')).filter(
            ({ status: { phase } }) => phase === 'Pending' || phase === 'Running',
          );
          const images = new Set(living.map((pod) => pod.spec.containers[0].image));
          if (images.size > 1) together = true;
        }
      })();
      await setImage(scene, 'web', 'web:2');
      await rolled(scene, 'web', 3);
      watching = false;
      await watch;
      assert.ok(!together, 'old and new pods were there at the same time');
    },
  },
  {
    name: 'an image that cannot be pulled stops the rollout, the old pods serve on, and the deadline is reported',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2, { progressDeadlineSeconds: 3 }));
      await rolled(scene, 'web', 2);
      await setImage(scene, 'web', 'bad:1');
      const late = await scene.until(
        'deployments',
        'web',
        'ProgressDeadlineExceeded',
        (d) => condition(d, 'Progressing')?.reason === 'ProgressDeadlineExceeded',
      );
      assert.equal(condition(late, 'Progressing').status, 'False');
      assert.equal(condition(late, 'Available').status, 'True');
      assert.equal(late.status.availableReplicas, 2);
      const pods = await scene.list('pods');
      assert.equal(pods.filter(isReady).length, 2);
      await setImage(scene, 'web', 'web:1');
      await rolled(scene, 'web', 2);
    },
  },
  {
    name: 'a paused deployment keeps its pods until it is resumed',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      await scene.patch('deployments', 'web', { spec: { paused: true } });
      await setImage(scene, 'web', 'web:2');
      const paused = await scene.until(
        'deployments',
        'web',
        'DeploymentPaused',
        (d) =>
          condition(d, 'Progressing')?.reason === 'DeploymentPaused' &&
          d.status.observedGeneration === d.metadata.generation,
      );
      assert.equal(condition(paused, 'Progressing').status, 'Unknown');
      await scene.stays('no new pods', async () =>
        (await scene.list('pods')).every((p) => p.spec.containers[0].image === 'web:1'),
      );
      // A pause does not stop scaling.
      await scene.patch('deployments', 'web', { spec: { replicas: 3 } });
      await scene.untilAll('pods', 'three old pods', (pods) => pods.filter(isReady).length === 3);
      await scene.patch('deployments', 'web', { spec: { paused: false } });
      await rolled(scene, 'web', 3);
    },
  },
  {
    name: 'the scale subresource scales up and down',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 1));
      await rolled(scene, 'web', 1);
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 5 } });
      await rolled(scene, 'web', 5);
      const scale = await scene.get('deployments', 'web/scale');
      assert.equal(scale.status.replicas, 5);
      assert.equal(scale.status.selector, 'app=web');
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 0 } });
      await rolled(scene, 'web', 0);
      await scene.untilAll('pods', 'no pods', (pods) => pods.length === 0);
    },
  },
  {
    name: 'old revisions above the history limit are removed',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 1, { revisionHistoryLimit: 1 }));
      await rolled(scene, 'web', 1);
      for (const image of ['web:2', 'web:3', 'web:4']) {
        await setImage(scene, 'web', image);
        await rolled(scene, 'web', 1);
      }
      const sets = await scene.untilAll('replicasets', 'two revisions', (all) => all.length === 2);
      assert.deepEqual(sets.map(({ metadata }) => metadata.annotations[revision]).sort(), ['3', '4']);
    },
  },
  {
    name: 'a pod that is deleted is replaced',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await rolled(scene, 'web', 2);
      const [victim] = await scene.list('pods');
      await scene.delete('pods', victim.metadata.name);
      await scene.untilAll(
        'pods',
        'another pod',
        (pods) =>
          pods.filter(isReady).length === 2 && pods.every(({ metadata }) => metadata.uid !== victim.metadata.uid),
      );
    },
  },
  {
    name: 'a replica set adopts a pod that fits and releases one that fits no longer',
    run: async (scene) => {
      await scene.create('pods', { metadata: { name: 'lone', labels: { app: 'set' } }, spec: template({}).spec });
      const set = await scene.create('replicasets', {
        metadata: { name: 'set' },
        spec: { replicas: 2, selector: { matchLabels: { app: 'set' } }, template: template({ app: 'set' }) },
      });
      await scene.until('pods', 'lone', 'adopted', ownedBy(set.metadata.uid));
      await scene.untilAll('pods', 'two pods', (pods) => pods.length === 2 && pods.every(isReady));
      await scene.patch('pods', 'lone', { metadata: { labels: { app: 'other' } } });
      await scene.until('pods', 'lone', 'released', (pod) => (pod.metadata.ownerReferences ?? []).length === 0);
      await scene.untilAll(
        'pods',
        'two pods of its own',
        (pods) => pods.filter(ownedBy(set.metadata.uid)).length === 2,
      );
    },
  },
  {
    name: 'a replication controller keeps its pods and counts them',
    run: async (scene) => {
      await scene.create('replicationcontrollers', {
        metadata: { name: 'rc' },
        spec: { replicas: 3, selector: { app: 'rc' }, template: template({ app: 'rc' }) },
      });
      const counted =
        (n: number) =>
        ({ status }: Any) =>
          status.replicas === n && (status.availableReplicas ?? 0) === n;
      await scene.until('replicationcontrollers', 'rc', 'three pods', counted(3));
      await scene.patch('replicationcontrollers', 'rc', { spec: { replicas: 1 } });
      await scene.until('replicationcontrollers', 'rc', 'one pod', counted(1));
    },
  },
  {
    name: 'minReadySeconds delays availability',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 1, { minReadySeconds: 2 }));
      const ready = await scene.until('deployments', 'web', 'ready', (d) => d.status.readyReplicas === 1);
      assert.equal(ready.status.availableReplicas ?? 0, 0);
      await rolled(scene, 'web', 1);
    },
  },
  {
    name: 'what quota forbids is reported, and made when there is room',
    run: async (scene) => {
      await scene.create('resourcequotas', { metadata: { name: 'few' }, spec: { hard: { pods: '1' } } });
      await scene.until('resourcequotas', 'few', 'counted', (quota) => quota.status.hard?.pods === '1');
      await scene.create('deployments', deployment('web', 3));
      const full = await scene.until(
        'deployments',
        'web',
        'ReplicaFailure',
        (d) => condition(d, 'ReplicaFailure')?.status === 'True',
      );
      assert.equal(condition(full, 'ReplicaFailure').reason, 'FailedCreate');
      assert.match(condition(full, 'ReplicaFailure').message, /exceeded quota: few/);
      await scene.patch('resourcequotas', 'few', { spec: { hard: { pods: '5' } } });
      await rolled(scene, 'web', 3);
      const well = await scene.until('resourcequotas', 'few', 'usage', (quota) => quota.status.used?.pods === '3');
      assert.equal(well.spec.hard.pods, '5');
    },
  },
];
