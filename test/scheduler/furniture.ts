import { zone } from './draw-node.js';

const devicesPath = '/apis/resource.k8s.io/v1';
const capacity = { storage: '1Gi' };
const provisioned = 'with-provisioner';
const late = 'late';
const inZone = (name: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: zone, operator: 'In', values: [name] }] }] },
});

/** Objects that pods with volumes need, by path; claims with a volume are bound to it by their status. */
export const furniture: readonly { readonly path: string; readonly body: object; readonly status?: object }[] = [
  {
    path: '/apis/scheduling.k8s.io/v1/priorityclasses',
    body: { metadata: { name: 'calm' }, value: 0, preemptionPolicy: 'Never' },
  },
  { path: '/api/v1/namespaces', body: { metadata: { name: 'other', labels: { team: 'a' } } } },
  {
    path: '/apis/storage.k8s.io/v1/storageclasses',
    body: {
      metadata: { name: late },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
  },
  {
    path: '/apis/storage.k8s.io/v1/storageclasses',
    body: { metadata: { name: provisioned }, provisioner: 'example.com/p', volumeBindingMode: 'Immediate' },
  },
  volume('zonal', { nodeAffinity: inZone('z1') }, {}),
  volume('labelled', {}, { [zone]: 'z2' }),
  volume('anywhere', {}, {}),
  claim('zonal', 'zonal'),
  claim('labelled', 'labelled'),
  claim('anywhere', 'anywhere', ['ReadWriteOncePod']),
  claim('lost', 'no-such-volume', ['ReadWriteOnce'], 'Lost'),
  claim('pending', undefined, ['ReadWriteOnce'], 'Pending', provisioned),
  claim('late', undefined, ['ReadWriteOnce'], 'Pending', late),
  { path: `${devicesPath}/deviceclasses`, body: { metadata: { name: 'gadgets' }, spec: {} } },
  slice('node-0'),
  slice('node-1'),
  deviceClaim('many', { deviceClassName: 'gadgets', allocationMode: 'ExactCount', count: 3 }),
  deviceClaim('unlike', { deviceClassName: 'gadgets', selectors: [{ cel: { expression: 'device.driver == "x"' } }] }),
  deviceClaim('classless', { deviceClassName: 'no-such-class' }),
];

/** Claims to devices that no node has (enough of). Upstream's says nothing about pods whose claim does not exist. */
export const deviceClaims = ['many', 'unlike', 'classless'] as const;

/** The claims that pods use, one of which does not exist. */
export const claimNames = ['zonal', 'labelled', 'anywhere', 'lost', 'pending', 'late', 'missing'] as const;

function volume(name: string, spec: object, labels: object) {
  const source = { csi: { driver: 'example.com', volumeHandle: name } };
  const claimRef = { kind: 'PersistentVolumeClaim', namespace: 'default', name };
  const body = {
    metadata: { name, labels },
    spec: {
      capacity,
      accessModes: [name === 'anywhere' ? 'ReadWriteOncePod' : 'ReadWriteOnce'],
      ...source,
      claimRef,
      ...spec,
    },
  };
  return { path: '/api/v1/persistentvolumes', body, status: { phase: 'Bound' } };
}

function claim(
  name: string,
  volumeName: string | undefined,
  accessModes: readonly string[] = ['ReadWriteOnce'],
  phase = 'Bound',
  storageClassName = '',
) {
  const annotations = volumeName === undefined ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' };
  const body = {
    metadata: { name, annotations },
    spec: {
      accessModes,
      storageClassName,
      resources: { requests: capacity },
      ...(volumeName === undefined ? {} : { volumeName }),
    },
  };
  return { path: '/api/v1/namespaces/default/persistentvolumeclaims', body, status: { phase, accessModes, capacity } };
}

/** Two devices of a node. */
function slice(nodeName: string) {
  const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 };
  const spec = { driver: 'example.com', nodeName, pool, devices: [{ name: 'a' }, { name: 'b' }] };
  return { path: `${devicesPath}/resourceslices`, body: { metadata: { name: nodeName }, spec } };
}

function deviceClaim(name: string, exactly: object) {
  const spec = { devices: { requests: [{ name: 'r', exactly }] } };
  return { path: `${devicesPath}/namespaces/default/resourceclaims`, body: { metadata: { name }, spec } };
}
