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
const daemon = (name: string, spec: object = {}, pod: object = template({ app: name })) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: pod, ...spec },
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
      await scene.create('statefulsets', stateful('db', 2, { volumeClaimTemplates, podManagementPolicy: 'Parallel' }));
      await scene.until('statefulsets', 'db', 'two ready', settled(2));
      await scene.patch('statefulsets', 'db', { spec: { replicas: 0 } });
      await scene.untilAll('pods', 'no pods', (pods) => pods.length === 0);
      const claims = await scene.list('persistentvolumeclaims');
      assert.deepEqual(claims.map(({ metadata }) => metadata.name).sort(), ['data-db-0', 'data-db-1']);
      assert.ok(claims.every(({ status }) => status.phase === 'Bound'));
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
  {
    name: 'a deleted pod of a stateful set comes back under its name, with its claim',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 2));
      await scene.until('statefulsets', 'db', 'two ready', settled(2));
      const before = await scene.get('pods', 'db-0');
      await scene.delete('pods', 'db-0');
      const after = await scene.until('pods', 'db-0', 'another', (pod) => pod.metadata.uid !== before.metadata.uid);
      assert.equal(
        after.metadata.labels['controller-revision-hash'],
        before.metadata.labels['controller-revision-hash'],
      );
      await scene.until('statefulsets', 'db', 'two ready', settled(2));
    },
  },
  {
    name: 'a stateful set that goes back finds its old revision',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 1));
      const { status } = await scene.until('statefulsets', 'db', 'ready', settled(1));
      await setImage(scene, 'statefulsets', 'db', 'web:2');
      await scene.until('statefulsets', 'db', 'another revision', (set) => {
        return settled(1)(set) && set.status.currentRevision !== status.currentRevision;
      });
      // What clients send to undo a rollout.
      const revision = await scene.get('controllerrevisions', status.currentRevision);
      assert.equal(revision.revision, 1);
      await scene.patch('statefulsets', 'db', revision.data, 'strategic-merge');
      await scene.until('statefulsets', 'db', 'the first revision', (set) => {
        return settled(1)(set) && set.status.currentRevision === status.currentRevision;
      });
      const revisions = await scene.list('controllerrevisions');
      assert.deepEqual(revisions.map((each) => each.revision).sort(), [2, 3]);
      assert.equal(imageOf(await scene.get('pods', 'db-0')), 'web:1');
    },
  },
  {
    name: 'a stateful set forgets revisions above its limit',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 1, { revisionHistoryLimit: 1 }));
      await scene.until('statefulsets', 'db', 'ready', settled(1));
      for (const image of ['web:2', 'web:3', 'web:4']) {
        await setImage(scene, 'statefulsets', 'db', image);
        await scene.until('pods', 'db-0', image, (pod) => imageOf(pod) === image);
        await scene.until('statefulsets', 'db', 'ready', settled(1));
      }
      await scene.untilAll('controllerrevisions', 'two', (all) => {
        return (
          all
            .map(({ revision }) => revision)
            .sort()
            .join() === '3,4'
        );
      });
    },
  },
  {
    name: 'a stateful set that waits for a pod makes no further ones',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 3, {}, pretend({ 'ready-after': 'never' })));
      await scene.until('pods', 'db-0', 'running', ({ status }) => status.phase === 'Running');
      await scene.stays('one pod', async () => (await scene.list('pods')).length === 1);
      const { status } = await scene.get('statefulsets', 'db');
      assert.equal(status.replicas, 1);
      assert.equal(status.readyReplicas ?? 0, 0);
    },
  },
  {
    name: 'a stateful set begins at another number',
    since: '1.27',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 2, { ordinals: { start: 7 } }));
      await scene.until('statefulsets', 'db', 'two ready', settled(2));
      const pods = await scene.list('pods');
      assert.deepEqual(pods.map(({ metadata }) => metadata.name).sort(), ['db-7', 'db-8']);
      assert.deepEqual(pods.map(({ metadata }) => metadata.labels['apps.kubernetes.io/pod-index']).sort(), ['7', '8']);
    },
  },
  {
    name: 'a stateful set waits minReadySeconds before the next pod',
    since: '1.22',
    run: async (scene) => {
      await scene.create('statefulsets', stateful('db', 2, { minReadySeconds: 2 }));
      await scene.until('statefulsets', 'db', 'one ready', ({ status }) => status.readyReplicas === 1);
      assert.equal((await scene.list('pods')).length, 1);
      const { status } = await scene.until('statefulsets', 'db', 'two', (set) => set.status.availableReplicas === 2);
      assert.equal(status.readyReplicas, 2);
    },
  },
  {
    name: 'a stateful set replaces as many pods at once as may be missing',
    since: '1.24',
    run: async (scene) => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
      const spec = { updateStrategy, podManagementPolicy: 'Parallel' };
      await scene.create('statefulsets', stateful('db', 4, spec));
      await scene.until('statefulsets', 'db', 'four ready', settled(4));
      const annotations = pretend({ 'ready-after': '1' });
      const changed = template({ app: 'db' }, annotations, {}, 'web:2');
      await scene.patch('statefulsets', 'db', { spec: { template: changed } });
      await scene.untilAll('pods', 'two new ones that are not ready', (pods) => {
        const fresh = pods.filter((pod) => imageOf(pod) === 'web:2');
        return fresh.length === 2 && !fresh.some(isReady) && pods.filter(isReady).length === 2;
      });
      await scene.until('statefulsets', 'db', 'all new', settled(4));
    },
  },
  {
    name: 'claims go with the stateful set, and with superfluous pods, when that is wanted',
    since: '1.27',
    run: async (scene) => {
      const volumeClaimTemplates = [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ];
      const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete', whenScaled: 'Delete' };
      const spec = { volumeClaimTemplates, persistentVolumeClaimRetentionPolicy, podManagementPolicy: 'Parallel' };
      const { metadata } = await scene.create('statefulsets', stateful('db', 2, spec));
      await scene.untilAll('persistentvolumeclaims', 'two claims of the set', (all) => {
        return all.length === 2 && all.every(ownedBy(metadata.uid));
      });
      await scene.untilAll('pods', 'two pods', (pods) => pods.length === 2);
      await scene.patch('statefulsets', 'db', { spec: { replicas: 1 } });
      await scene.untilGone('persistentvolumeclaims', 'data-db-1');
      await scene.get('persistentvolumeclaims', 'data-db-0');
      await scene.delete('statefulsets', 'db', { propagationPolicy: 'Background' });
      await scene.untilAll('persistentvolumeclaims', 'no claims', (all) => all.length === 0);
    },
  },
  {
    name: 'a daemon set waits for pods to be deleted with OnDelete',
    run: async (scene) => {
      await scene.create('daemonsets', daemon('agent', { updateStrategy: { type: 'OnDelete' } }));
      const count = (await scene.list('nodes')).length;
      await scene.until('daemonsets', 'agent', 'ready', ({ status }) => status.numberReady === count);
      await setImage(scene, 'daemonsets', 'agent', 'web:2');
      await scene.until('daemonsets', 'agent', 'observed', ({ status }) => {
        return status.observedGeneration === 2 && (status.updatedNumberScheduled ?? 0) === 0;
      });
      await scene.stays('old pods', async () => (await scene.list('pods')).every((pod) => imageOf(pod) === 'web:1'));
      const [pod] = await scene.list('pods');
      await scene.delete('pods', pod.metadata.name);
      await scene.until('daemonsets', 'agent', 'one updated', ({ status }) => {
        return status.updatedNumberScheduled === 1 && status.numberReady === count;
      });
    },
  },
  {
    name: 'a daemon set has two pods on a node during a surge, and never less than one',
    since: '1.22',
    run: async (scene) => {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
      await scene.create('daemonsets', daemon('agent', { updateStrategy }));
      const count = (await scene.list('nodes')).length;
      await scene.until('daemonsets', 'agent', 'ready', ({ status }) => status.numberAvailable === count);
      await setImage(scene, 'daemonsets', 'agent', 'web:2');
      let most = 0;
      await scene.untilAll('pods', 'new ones', (pods) => {
        most = Math.max(most, pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length);
        const ready = new Set(pods.filter(isReady).map(({ spec }) => spec.nodeName));
        assert.equal(ready.size, count, 'every node has a ready pod');
        return pods.length === count && pods.every((pod) => imageOf(pod) === 'web:2');
      });
      assert.ok(most > count, 'one more than nodes for a while');
    },
  },
  {
    name: 'a daemon set adopts pods that match',
    run: async (scene) => {
      const [node] = await scene.list('nodes');
      const { metadata, spec } = template({ app: 'agent' });
      const { name } = node.metadata;
      await scene.create('pods', { metadata: { name: 'stray', ...metadata }, spec: { ...spec, nodeName: name } });
      const updateStrategy = { type: 'OnDelete' };
      const made = await scene.create('daemonsets', daemon('agent', { updateStrategy }));
      await scene.until('pods', 'stray', 'adopted', ownedBy(made.metadata.uid));
      const count = (await scene.list('nodes')).length;
      await scene.until('daemonsets', 'agent', 'ready', ({ status }) => status.numberReady === count);
      assert.equal((await scene.list('pods')).length, count);
    },
  },
  {
    name: 'a daemon set replaces a failed pod',
    run: async (scene) => {
      const [node] = await scene.list('nodes');
      const nodeSelector = { 'kubernetes.io/hostname': node.metadata.name };
      const body = daemon('agent', {}, template({ app: 'agent' }, {}, { nodeSelector }));
      await scene.create('daemonsets', body);
      const [pod] = await scene.untilAll('pods', 'one', (pods) => pods.length === 1 && isReady(pods[0]));
      await scene.patch('pods', `${pod.metadata.name}/status`, { status: { phase: 'Failed' } });
      await scene.untilAll('pods', 'another', (pods) => {
        return pods.length === 1 && pods[0].metadata.uid !== pod.metadata.uid && isReady(pods[0]);
      });
      await scene.event('FailedDaemonPod', 'agent', /Found failed daemon pod/);
    },
  },
];
