import assert from 'node:assert/strict';
import { type Any, isReady, ownedBy, pretend, type Scenario, type Scene, template } from '../scene.js';

const stateful = (name: string, replicas: number, spec: object = {}, annotations: object = {}) => ({
  metadata: { name },
  spec: {
    replicas,
    serviceName: name,
    selector: { matchLabels: { app: name } },
    template: template({ app: name }, annotations),
    ...spec,
  },
});
const settled =
  (replicas: number) =>
  ({ status, metadata }: Any) =>
    status.observedGeneration === metadata.generation &&
    status.readyReplicas === replicas &&
    status.replicas === replicas &&
    status.updateRevision === status.currentRevision;
const imageOf = (pod: Any): string => pod.spec.containers[0].image;
const setImage = (scene: Scene, resource: string, name: string, image: string) =>
  scene.patch(resource, name, { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } });

export const sets: readonly Scenario[] = [
  {
    name: 'a stateful set makes its pods one after the other',
    run: async (scene) => {
      const made = await scene.create('statefulsets', stateful('db', 3, {}, pretend({ 'ready-after': '0.3' })));
      await scene.until('statefulsets', 'db', 'three ready', settled(3));
      const pods = await scene.list('pods', 'app=db');
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), ['db-0', 'db-1', 'db-2']);
      assert.ok(pods.every(ownedBy(made.metadata.uid)));
      const readyAt = (name: string) =>
        Date.parse(
          pods
            .find(({ metadata }) => metadata.name === name)
            .status.conditions.find((each: Any) => each.type === 'Ready').lastTransitionTime,
        );
      const madeAt = (name: string) =>
        Date.parse(pods.find(({ metadata }) => metadata.name === name).metadata.creationTimestamp);
      assert.ok(madeAt('db-1') >= readyAt('db-0'));
      assert.ok(madeAt('db-2') >= readyAt('db-1'));
      const [first] = pods;
      assert.equal(first.metadata.labels['statefulset.kubernetes.io/pod-name'], first.metadata.name);
      assert.equal(first.spec.hostname, first.metadata.name);
      assert.equal(first.spec.subdomain, 'db');
    },
  },
  {
    name: 'a stateful set scales down from the end',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 3));
      await scene.until('statefulsets', 'db', 'three ready', settled(3));
      await scene.patch('statefulsets', 'db/scale', { spec: { replicas: 1 } });
      await scene.until('statefulsets', 'db', 'one', settled(1));
      assert.deepEqual(
        (await scene.list('pods')).map(({ metadata }) => metadata.name),
        ['db-0'],
      );
    },
  },
  {
    name: 'a stateful set rolls out from the end and keeps the pods below its partition',
    run: async (scene) => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 2 } };
      await scene.create('statefulsets', stateful('db', 3, { updateStrategy }));
      await scene.until('statefulsets', 'db', 'three ready', settled(3));
      await setImage(scene, 'statefulsets', 'db', 'web:2');
      await scene.untilAll('pods', 'the last one is new', (pods) => {
        const images = Object.fromEntries(pods.map((pod) => [pod.metadata.name, imageOf(pod)]));
        return (
          images['db-2'] === 'web:2' && images['db-0'] === 'web:1' && images['db-1'] === 'web:1' && pods.every(isReady)
        );
      });
      await scene.patch('statefulsets', 'db', { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
      await scene.until('statefulsets', 'db', 'all new', settled(3));
      assert.ok((await scene.list('pods')).every((pod) => imageOf(pod) === 'web:2'));
    },
  },
  {
    name: 'a stateful set gives each pod its claims and keeps them',
    run: async (scene) => {
      const volumeClaimTemplates = [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ];
      // No volume exists, so the pods wait for a node; their claims are there.
      await scene.create('statefulsets', stateful('db', 2, { volumeClaimTemplates, podManagementPolicy: 'Parallel' }));
      await scene.untilAll('persistentvolumeclaims', 'two claims', (all) => all.length === 2);
      await scene.patch('statefulsets', 'db', { spec: { replicas: 0 } });
      await scene.untilAll('pods', 'no pods', (pods) => pods.length === 0);
      const claims = await scene.list('persistentvolumeclaims');
      assert.deepEqual(claims.map(({ metadata }) => metadata.name).sort(), ['data-db-0', 'data-db-1']);
    },
  },
  {
    name: 'OnDelete waits for pods to be deleted',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 2, { updateStrategy: { type: 'OnDelete' } }));
      await scene.until('statefulsets', 'db', 'two ready', settled(2));
      await setImage(scene, 'statefulsets', 'db', 'web:2');
      await scene.stays('old pods', async () => (await scene.list('pods')).every((pod) => imageOf(pod) === 'web:1'));
      await scene.delete('pods', 'db-0');
      await scene.untilAll(
        'pods',
        'one new',
        (pods) => pods.length === 2 && pods.some((pod) => imageOf(pod) === 'web:2') && pods.every(isReady),
      );
    },
  },
  {
    name: 'Parallel makes all pods at once',
    run: async (scene) => {
      const spec = { podManagementPolicy: 'Parallel' };
      await scene.create('statefulsets', stateful('db', 3, spec, pretend({ 'ready-after': 'never' })));
      await scene.untilAll('pods', 'three pods', (pods) => pods.length === 3);
    },
  },
  {
    name: 'a daemon set has one pod on every node that it selects',
    run: async (scene) => {
      const nodes = await scene.list('nodes');
      await scene.create('daemonsets', {
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: { app: 'agent' } }, template: template({ app: 'agent' }) },
      });
      const agent = await scene.until(
        'daemonsets',
        'agent',
        'all ready',
        ({ status }) => status.numberReady === nodes.length && status.desiredNumberScheduled === nodes.length,
      );
      assert.equal(agent.status.numberMisscheduled, 0);
      const pods = await scene.list('pods');
      assert.deepEqual(pods.map(({ spec }) => spec.nodeName).sort(), nodes.map(({ metadata }) => metadata.name).sort());
      const [name] = nodes.map(({ metadata }) => metadata.name);
      await scene.patch('daemonsets', 'agent', {
        spec: { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': name } } } },
      });
      await scene.untilAll(
        'pods',
        'one node',
        (all) => all.length === 1 && all[0].spec.nodeName === name && isReady(all[0]),
      );
    },
  },
  {
    name: 'a daemon set rolls out node by node',
    run: async (scene) => {
      await scene.create('daemonsets', {
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: { app: 'agent' } }, template: template({ app: 'agent' }) },
      });
      const count = (await scene.list('nodes')).length;
      await scene.until('daemonsets', 'agent', 'ready', ({ status }) => status.numberReady === count);
      await setImage(scene, 'daemonsets', 'agent', 'web:2');
      await scene.until(
        'daemonsets',
        'agent',
        'updated',
        ({ status, metadata }) =>
          status.observedGeneration === metadata.generation &&
          status.updatedNumberScheduled === count &&
          status.numberReady === count,
      );
      await scene.untilAll(
        'pods',
        'new',
        (pods) => pods.length === count && pods.every((pod) => imageOf(pod) === 'web:2'),
      );
      assert.equal((await scene.list('controllerrevisions')).length, 2);
    },
  },
];
