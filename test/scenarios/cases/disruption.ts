import assert from 'node:assert/strict';
import { condition, deployment, isReady, type Scenario, type Scene, template } from '../scene.js';

const budget = (name: string, app: string, spec: object) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app } }, ...spec },
});
const evict = (scene: Scene, name: string) =>
  scene.client.post(scene.path('pods', `${name}/eviction`), {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: scene.namespace },
  });

export const disruption: readonly Scenario[] = [
  {
    name: 'a budget counts healthy pods and allows as many evictions',
    run: async (scene) => {
      await scene.create('poddisruptionbudgets', budget('web', 'web', { minAvailable: 2 }));
      await scene.create('deployments', deployment('web', 3));
      const counted = await scene.until(
        'poddisruptionbudgets',
        'web',
        'counted',
        ({ status }) => status?.disruptionsAllowed === 1,
      );
      assert.equal(counted.status.currentHealthy, 3);
      assert.equal(counted.status.desiredHealthy, 2);
      assert.equal(counted.status.expectedPods, 3);
      const [first, second] = await scene.list('pods');
      const allowed = await evict(scene, first.metadata.name);
      assert.equal(allowed.status, 201, allowed.text);
      const refused = await evict(scene, second.metadata.name);
      assert.equal(refused.status, 429, refused.text);
      assert.match(refused.body.message, /Cannot evict pod as it would violate the pod's disruption budget\./);
      await scene.untilAll('pods', 'three again', (pods) => pods.length === 3 && pods.every(isReady));
      await scene.until('poddisruptionbudgets', 'web', 'allows again', ({ status }) => status.disruptionsAllowed === 1);
    },
  },
  {
    name: 'percentages are of what the owners want',
    run: async (scene) => {
      await scene.create('poddisruptionbudgets', budget('web', 'web', { maxUnavailable: '50%' }));
      await scene.create('deployments', deployment('web', 4));
      const { status } = await scene.until(
        'poddisruptionbudgets',
        'web',
        'counted',
        (object) => object.status?.currentHealthy === 4,
      );
      assert.equal(status.desiredHealthy, 2);
      assert.equal(status.disruptionsAllowed, 2);
    },
  },
  {
    name: 'the condition of a budget says why',
    since: '1.21',
    run: async (scene) => {
      await scene.create('poddisruptionbudgets', budget('web', 'web', { minAvailable: 1 }));
      await scene.create('deployments', deployment('web', 1));
      const tight = await scene.until(
        'poddisruptionbudgets',
        'web',
        'counted',
        ({ status }) => status?.currentHealthy === 1,
      );
      assert.equal(condition(tight, 'DisruptionAllowed').reason, 'InsufficientPods');
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 2 } });
      const wide = await scene.until(
        'poddisruptionbudgets',
        'web',
        'allows',
        ({ status }) => status.disruptionsAllowed === 1,
      );
      assert.equal(condition(wide, 'DisruptionAllowed').reason, 'SufficientPods');
    },
  },
  {
    name: 'pods without an owner count with a number, not with a percentage',
    run: async (scene) => {
      for (const name of ['a', 'b']) {
        await scene.create('pods', { metadata: { name, labels: { app: 'lone' } }, spec: template({}).spec });
      }
      await scene.create('poddisruptionbudgets', budget('lone', 'lone', { minAvailable: 1 }));
      await scene.until('poddisruptionbudgets', 'lone', 'counted', ({ status }) => status?.disruptionsAllowed === 1);
      const evicted = await evict(scene, 'a');
      assert.equal(evicted.status, 201, evicted.text);
      await scene.untilGone('pods', 'a');
    },
  },
];
