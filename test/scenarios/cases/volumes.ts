import assert from 'node:assert/strict';
import { type Any, isReady, type Scenario, type Scene, template } from '../scene.js';

const claimOf = (name: string, storageClassName?: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
    ...spec,
  },
});

const volumeOf = (name: string, storageClassName: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '2Gi' },
    hostPath: { path: `/mnt/${name}` },
    storageClassName,
    ...spec,
  },
});

const podWith = (name: string, claimName: string, spec: object = {}) => ({
  metadata: { name },
  spec: {
    ...template({}).spec,
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    ...spec,
  },
});

const on = (node: string) => ({
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] }],
  },
});

const isBound = ({ status }: Any) => status.phase === 'Bound';

/** The name of something of the whole cluster that only this scenario has. */
const own = (scene: Scene, name: string) => `${scene.namespace}-${name}`;

/** Promises of claims and volumes. The simulation makes the volumes of the default class. */
export const volumes: readonly Scenario[] = [
  {
    name: 'a claim gets the volume of its class, and lets go of it',
    run: async (scene) => {
      const name = own(scene, 'disk');
      await scene.create('persistentvolumes', volumeOf(name, name));
      await scene.until('persistentvolumes', name, 'offered', ({ status }) => status.phase === 'Available');
      await scene.create('persistentvolumeclaims', claimOf('data', name));
      const claim = await scene.until('persistentvolumeclaims', 'data', 'bound', isBound);
      assert.deepEqual([claim.spec.volumeName, claim.status.capacity.storage], [name, '2Gi']);
      await scene.until('persistentvolumes', name, 'bound', isBound);
      await scene.delete('persistentvolumeclaims', 'data');
      await scene.until('persistentvolumes', name, 'released', ({ status }) => status.phase === 'Released');
    },
  },
  {
    name: 'a claim in use stays until its pod is gone',
    run: async (scene) => {
      const name = own(scene, 'disk');
      await scene.create('persistentvolumes', volumeOf(name, name));
      await scene.create('persistentvolumeclaims', claimOf('data', name, { volumeName: name }));
      await scene.create('pods', podWith('user', 'data'));
      await scene.until('pods', 'user', 'ready', isReady);
      await scene.delete('persistentvolumeclaims', 'data');
      const held = async () => (await scene.get('persistentvolumeclaims', 'data')).status.phase === 'Bound';
      await scene.stays('the claim', held);
      await scene.delete('pods', 'user');
      await scene.untilGone('persistentvolumeclaims', 'data');
      await scene.until('persistentvolumes', name, 'released', ({ status }) => status.phase === 'Released');
    },
  },
  {
    name: 'a pod waits for its claim, and the claim says what it waits for',
    run: async (scene) => {
      const name = own(scene, 'none');
      await scene.create('persistentvolumeclaims', claimOf('data', name));
      await scene.create('pods', podWith('user', 'data'));
      assert.match(
        await scene.event('ProvisioningFailed', 'data'),
        /storageclass\.storage\.k8s\.io ".*-none" not found/,
      );
      await scene.event('FailedScheduling', 'user', /unbound immediate PersistentVolumeClaims/);
      await scene.create('persistentvolumes', volumeOf(own(scene, 'late'), name));
      await scene.until('pods', 'user', 'ready', isReady);
    },
  },
  {
    name: 'a volume of the default class is made for the first pod and goes with the claim',
    run: async (scene) => {
      await scene.create('persistentvolumeclaims', claimOf('data'));
      await scene.event('WaitForFirstConsumer', 'data', /waiting for first consumer to be created before binding/);
      await scene.create('pods', podWith('user', 'data'));
      const pod = await scene.until('pods', 'user', 'ready', isReady);
      const claim = await scene.until('persistentvolumeclaims', 'data', 'bound', isBound);
      assert.equal(claim.spec.storageClassName, 'simulated');
      assert.equal(claim.metadata.annotations['volume.kubernetes.io/selected-node'], pod.spec.nodeName);
      assert.equal(claim.spec.volumeName, `pvc-${claim.metadata.uid}`);
      const volume = await scene.until('persistentvolumes', claim.spec.volumeName, 'bound', isBound);
      assert.equal(volume.spec.persistentVolumeReclaimPolicy, 'Delete');
      await scene.event('ProvisioningSucceeded', 'data');
      await scene.delete('pods', 'user');
      await scene.delete('persistentvolumeclaims', 'data');
      await scene.untilGone('persistentvolumeclaims', 'data');
      await scene.untilGone('persistentvolumes', claim.spec.volumeName);
    },
  },
  {
    name: 'a pod goes where the volume is that its claim can have',
    run: async (scene) => {
      const name = own(scene, 'local');
      await scene.create('storageclasses', {
        metadata: { name },
        provisioner: 'kubernetes.io/no-provisioner',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      await scene.create('persistentvolumeclaims', claimOf('data', name));
      await scene.create('pods', podWith('user', 'data'));
      await scene.event('FailedScheduling', 'user', /didn't find available persistent volumes to bind/);
      await scene.create('persistentvolumes', volumeOf(own(scene, 'disk'), name, { nodeAffinity: on('sim-3') }));
      const pod = await scene.until('pods', 'user', 'ready', isReady);
      assert.equal(pod.spec.nodeName, 'sim-3');
      await scene.until('persistentvolumeclaims', 'data', 'bound', isBound);
    },
  },
  {
    name: 'a stateful set runs with claims, and finds them again',
    run: async (scene) => {
      const volumeClaimTemplates = [claimOf('data')];
      await scene.create('statefulsets', {
        metadata: { name: 'db' },
        spec: {
          replicas: 3,
          serviceName: 'db',
          selector: { matchLabels: { app: 'db' } },
          template: template({ app: 'db' }),
          volumeClaimTemplates,
        },
      });
      const isSettled = ({ status }: Any) => status.readyReplicas === 3;
      await scene.until('statefulsets', 'db', 'three ready', isSettled);
      const before = await scene.list('persistentvolumeclaims');
      assert.ok(before.every(isBound));
      await scene.patch('statefulsets', 'db', { spec: { replicas: 0 } });
      await scene.untilAll('pods', 'no pods', (pods) => pods.length === 0);
      await scene.patch('statefulsets', 'db', { spec: { replicas: 3 } });
      await scene.until('statefulsets', 'db', 'three ready again', isSettled);
      const after = await scene.list('persistentvolumeclaims');
      const volumesOf = (claims: Any[]) => claims.map(({ spec }) => spec.volumeName).sort();
      assert.deepEqual(volumesOf(after), volumesOf(before));
    },
  },
  {
    name: 'pods without claims go past one whose volume nobody makes',
    upstream: 'release 1.20 has the name of the provisioner in double quotes',
    run: async (scene) => {
      const name = own(scene, 'slow');
      await scene.create('storageclasses', {
        metadata: { name },
        provisioner: 'example.com/nobody',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      await scene.create('persistentvolumeclaims', claimOf('data', name));
      await scene.create('pods', podWith('waits', 'data'));
      await scene.event('ExternalProvisioning', 'data', /'example\.com\/nobody'/);
      await scene.create('pods', { metadata: { name: 'other' }, spec: template({}).spec });
      await scene.until('pods', 'other', 'ready', isReady);
      assert.equal((await scene.get('pods', 'waits')).status.phase, 'Pending');
      const { metadata } = await scene.get('persistentvolumeclaims', 'data');
      const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: scene.namespace, name: 'data' };
      const made = volumeOf(own(scene, 'made'), name, { claimRef: { ...claimRef, uid: metadata.uid } });
      await scene.create('persistentvolumes', made);
      await scene.until('pods', 'waits', 'ready', isReady);
    },
  },
];
