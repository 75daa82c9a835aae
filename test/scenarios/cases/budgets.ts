import assert from 'node:assert/strict';
import { condition, deployment, isReady, pretend, type Scenario, type Scene, template } from '../scene.js';

const budget = (name: string, spec: object) => ({ metadata: { name }, spec });
const web = { selector: { matchLabels: { app: 'web' } } };
const evict = (scene: Scene, name: string) =>
  scene.client.post(scene.path('pods', `${name}/eviction`), {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: scene.namespace },
  });
// biome-ignore lint/suspicious/noExplicitAny: whatever the server answers
const counted = (scene: Scene, name: string, isSo: (status: any) => boolean) =>
  scene.until('poddisruptionbudgets', name, 'counted', ({ status }) => status !== undefined && isSo(status));

export const budgets: readonly Scenario[] = [
  {
    name: 'maxUnavailable allows as many as may be missing',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 4));
      await scene.create('poddisruptionbudgets', budget('web', { ...web, maxUnavailable: 1 }));
      const { status } = await counted(scene, 'web', ({ currentHealthy }) => currentHealthy === 4);
      assert.deepEqual([status.expectedPods, status.desiredHealthy, status.disruptionsAllowed], [4, 3, 1]);
    },
  },
  {
    name: 'an empty selector means every pod of the namespace',
    since: '1.21',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await scene.create('deployments', deployment('db', 1));
      await scene.create('poddisruptionbudgets', budget('all', { selector: {}, minAvailable: 1 }));
      await counted(
        scene,
        'all',
        ({ currentHealthy, disruptionsAllowed }) => currentHealthy === 3 && disruptionsAllowed === 2,
      );
    },
  },
  {
    name: 'pods of a stateful set count by its replicas',
    run: async (scene) => {
      const spec = { serviceName: 'web', replicas: 3, ...web, template: template({ app: 'web' }) };
      await scene.create('statefulsets', { metadata: { name: 'web' }, spec });
      await scene.create('poddisruptionbudgets', budget('web', { ...web, maxUnavailable: '34%' }));
      const { status } = await counted(scene, 'web', ({ currentHealthy }) => currentHealthy === 3);
      assert.deepEqual([status.expectedPods, status.desiredHealthy, status.disruptionsAllowed], [3, 1, 2]);
    },
  },
  {
    name: 'pods of a replication controller count by its replicas',
    run: async (scene) => {
      const spec = { replicas: 2, selector: { app: 'web' }, template: template({ app: 'web' }) };
      await scene.create('replicationcontrollers', { metadata: { name: 'web' }, spec });
      await scene.create('poddisruptionbudgets', budget('web', { ...web, minAvailable: '50%' }));
      await counted(scene, 'web', (status) => status.expectedPods === 2 && status.disruptionsAllowed === 1);
    },
  },
  {
    name: 'a budget follows the size of its deployment',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 2));
      await scene.create('poddisruptionbudgets', budget('web', { ...web, minAvailable: 2 }));
      await counted(scene, 'web', (status) => status.currentHealthy === 2 && status.disruptionsAllowed === 0);
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 5 } });
      await counted(scene, 'web', (status) => status.disruptionsAllowed === 3);
      await scene.patch('deployments', 'web/scale', { spec: { replicas: 1 } });
      await counted(scene, 'web', (status) => status.disruptionsAllowed === 0 && status.currentHealthy === 1);
    },
  },
  {
    name: 'pods that are not ready do not count as healthy',
    run: async (scene) => {
      const pods = template({ app: 'web' }, pretend({ 'ready-after': 'never' }));
      await scene.create('deployments', deployment('web', 2, {}, pods));
      await scene.create('poddisruptionbudgets', budget('web', { ...web, minAvailable: 1 }));
      await scene.untilAll(
        'pods',
        'two run',
        (all) => all.filter(({ status }) => status.phase === 'Running').length === 2,
      );
      await counted(scene, 'web', (status) => status.expectedPods === 2 && status.currentHealthy === 0);
    },
  },
  {
    name: 'pods that are not ready can be evicted when the budget says so',
    since: '1.27',
    run: async (scene) => {
      const pods = template({ app: 'web' }, pretend({ 'ready-after': 'never' }));
      await scene.create('deployments', deployment('web', 2, {}, pods));
      const [pod] = await scene.untilAll(
        'pods',
        'two run',
        (all) => all.length === 2 && all.every(({ status }) => status.phase === 'Running'),
      );
      await scene.create('poddisruptionbudgets', budget('web', { ...web, minAvailable: 1 }));
      await counted(scene, 'web', (status) => status.expectedPods === 2);
      const refused = await evict(scene, pod.metadata.name);
      assert.equal(refused.status, 429, refused.text);
      await scene.patch('poddisruptionbudgets', 'web', { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } });
      const allowed = await evict(scene, pod.metadata.name);
      assert.equal(allowed.status, 201, allowed.text);
    },
  },
  {
    name: 'a pod of two budgets cannot be evicted',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 3));
      for (const name of ['one', 'two']) {
        await scene.create('poddisruptionbudgets', budget(name, { ...web, minAvailable: 1 }));
        await counted(scene, name, ({ disruptionsAllowed }) => disruptionsAllowed === 2);
      }
      const [pod] = await scene.list('pods');
      const answer = await evict(scene, pod.metadata.name);
      assert.equal(answer.status, 500, answer.text);
      assert.match(answer.text, /more than one PodDisruptionBudget/);
    },
  },
  {
    name: 'all pods go one after the other when a drain insists',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 3));
      const old = await scene.untilAll('pods', 'three', (all) => all.filter(isReady).length === 3);
      await scene.create('poddisruptionbudgets', budget('web', { ...web, minAvailable: 2 }));
      let least = 3;
      const look = async () => {
        least = Math.min(least, (await scene.list('pods')).filter(isReady).length);
      };
      for (const { metadata } of old) {
        await scene.wait('an eviction', async () => {
          await look();
          const { status } = await evict(scene, metadata.name);
          return status === 201 || status === 404;
        });
        await scene.untilGone('pods', metadata.name);
        await look();
      }
      assert.ok(least >= 2, `only ${least} ready pods`);
      await scene.untilAll('pods', 'three others', (all) => all.filter(isReady).length === 3);
    },
  },
  {
    name: 'an autoscaler without metrics says so, and keeps to its bounds',
    run: async (scene) => {
      await scene.create('deployments', deployment('web', 1));
      await scene.untilAll('pods', 'one', (all) => all.filter(isReady).length === 1);
      await scene.create('horizontalpodautoscalers', {
        metadata: { name: 'web' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          minReplicas: 3,
          maxReplicas: 5,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          ],
        },
      });
      await scene.until('deployments', 'web', 'three', ({ spec }) => spec.replicas === 3);
      await scene.event(
        'SuccessfulRescale',
        'web',
        /New size: 3; reason: Current number of replicas below Spec\.MinReplicas/,
      );
      const scaled = await scene.until(
        'horizontalpodautoscalers',
        'web',
        'no metrics',
        (one) => condition(one, 'ScalingActive')?.status === 'False',
      );
      assert.equal(condition(scaled, 'AbleToScale').status, 'True');
    },
  },
];
