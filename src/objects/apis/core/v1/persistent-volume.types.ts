import {
  always,
  bool,
  enumOf,
  type Infer,
  inline,
  int32,
  kind,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { nodeSelector } from './node-selector.types.js';
import { persistentVolumeAccessMode, persistentVolumeMode } from './persistent-volume-claim-spec.types.js';
import { objectReference, secretReference } from './reference.types.js';
import { resourceList } from './resources.types.js';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  fcVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  hostPathVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './volume-source.types.js';

export const glusterfsPersistentVolumeSource = struct('core.v1.GlusterfsPersistentVolumeSource', {
  endpoints: required(1, string),
  path: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  endpointsNamespace: pointer(4, string),
});
export type GlusterfsPersistentVolumeSource = Infer<typeof glusterfsPersistentVolumeSource>;

export const rbdPersistentVolumeSource = struct('core.v1.RBDPersistentVolumeSource', {
  monitors: required(1, list(string)),
  image: required(2, string),
  fsType: optional(3, string, { doc: 'File system of the volume.' }),
  pool: optional(4, string, { default: 'rbd' }),
  user: optional(5, string, { default: 'admin' }),
  keyring: optional(6, string, { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, secretReference, { doc: 'Secret with the credentials.' }),
  readOnly: optional(8, bool, { doc: 'Whether writing is forbidden.' }),
});
export type RBDPersistentVolumeSource = Infer<typeof rbdPersistentVolumeSource>;

export const iscsiPersistentVolumeSource = struct('core.v1.ISCSIPersistentVolumeSource', {
  targetPortal: required(1, string),
  iqn: required(2, string),
  lun: required(3, int32),
  iscsiInterface: optional(4, string, { default: 'default' }),
  fsType: optional(5, string, { doc: 'File system of the volume.' }),
  readOnly: optional(6, bool, { doc: 'Whether writing is forbidden.' }),
  portals: optional(7, list(string)),
  chapAuthDiscovery: optional(8, bool),
  chapAuthSession: optional(11, bool),
  secretRef: pointer(10, secretReference, { doc: 'Secret with the credentials.' }),
  initiatorName: pointer(12, string),
});
export type ISCSIPersistentVolumeSource = Infer<typeof iscsiPersistentVolumeSource>;

export const cinderPersistentVolumeSource = struct('core.v1.CinderPersistentVolumeSource', {
  volumeID: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  secretRef: pointer(4, secretReference, { doc: 'Secret with the credentials.' }),
});
export type CinderPersistentVolumeSource = Infer<typeof cinderPersistentVolumeSource>;

export const cephFSPersistentVolumeSource = struct('core.v1.CephFSPersistentVolumeSource', {
  monitors: required(1, list(string)),
  path: optional(2, string),
  user: optional(3, string),
  secretFile: optional(4, string),
  secretRef: pointer(5, secretReference, { doc: 'Secret with the credentials.' }),
  readOnly: optional(6, bool, { doc: 'Whether writing is forbidden.' }),
});
export type CephFSPersistentVolumeSource = Infer<typeof cephFSPersistentVolumeSource>;

export const flexPersistentVolumeSource = struct('core.v1.FlexPersistentVolumeSource', {
  driver: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  secretRef: pointer(3, secretReference, { doc: 'Secret with the credentials.' }),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
  options: optional(5, map(string)),
});
export type FlexPersistentVolumeSource = Infer<typeof flexPersistentVolumeSource>;

export const azureFilePersistentVolumeSource = struct('core.v1.AzureFilePersistentVolumeSource', {
  secretName: required(1, string),
  shareName: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  secretNamespace: always(4, string, { nullable: true }),
});
export type AzureFilePersistentVolumeSource = Infer<typeof azureFilePersistentVolumeSource>;

export const scaleIOPersistentVolumeSource = struct('core.v1.ScaleIOPersistentVolumeSource', {
  gateway: required(1, string),
  system: required(2, string),
  secretRef: required(3, secretReference, { nullable: true, doc: 'Secret with the credentials.' }),
  sslEnabled: optional(4, bool),
  protectionDomain: optional(5, string),
  storagePool: optional(6, string),
  storageMode: optional(7, string, { default: 'ThinProvisioned' }),
  volumeName: optional(8, string),
  fsType: optional(9, string, { default: 'xfs', doc: 'File system of the volume.' }),
  readOnly: optional(10, bool, { doc: 'Whether writing is forbidden.' }),
});
export type ScaleIOPersistentVolumeSource = Infer<typeof scaleIOPersistentVolumeSource>;

export const localVolumeSource = struct('core.v1.LocalVolumeSource', {
  path: required(1, string),
  fsType: pointer(2, string, { doc: 'File system of the volume.' }),
});
export type LocalVolumeSource = Infer<typeof localVolumeSource>;

export const storageOSPersistentVolumeSource = struct('core.v1.StorageOSPersistentVolumeSource', {
  volumeName: optional(1, string),
  volumeNamespace: optional(2, string),
  fsType: optional(3, string, { doc: 'File system of the volume.' }),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
  secretRef: pointer(5, objectReference, { doc: 'Secret with the credentials.' }),
});
export type StorageOSPersistentVolumeSource = Infer<typeof storageOSPersistentVolumeSource>;

export const csiPersistentVolumeSource = struct('core.v1.CSIPersistentVolumeSource', {
  driver: required(1, string),
  volumeHandle: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  fsType: optional(4, string, { doc: 'File system of the volume.' }),
  volumeAttributes: optional(5, map(string)),
  controllerPublishSecretRef: pointer(6, secretReference),
  nodeStageSecretRef: pointer(7, secretReference),
  nodePublishSecretRef: pointer(8, secretReference),
  controllerExpandSecretRef: pointer(9, secretReference),
  nodeExpandSecretRef: pointer(10, secretReference),
});
export type CSIPersistentVolumeSource = Infer<typeof csiPersistentVolumeSource>;

export const persistentVolumeSource = struct('core.v1.PersistentVolumeSource', {
  gcePersistentDisk: pointer(1, gcePersistentDiskVolumeSource),
  awsElasticBlockStore: pointer(2, awsElasticBlockStoreVolumeSource),
  hostPath: pointer(3, hostPathVolumeSource),
  glusterfs: pointer(4, glusterfsPersistentVolumeSource),
  nfs: pointer(5, nfsVolumeSource),
  rbd: pointer(6, rbdPersistentVolumeSource),
  iscsi: pointer(7, iscsiPersistentVolumeSource),
  cinder: pointer(8, cinderPersistentVolumeSource),
  cephfs: pointer(9, cephFSPersistentVolumeSource),
  fc: pointer(10, fcVolumeSource),
  flocker: pointer(11, flockerVolumeSource),
  flexVolume: pointer(12, flexPersistentVolumeSource),
  azureFile: pointer(13, azureFilePersistentVolumeSource),
  vsphereVolume: pointer(14, vsphereVirtualDiskVolumeSource),
  quobyte: pointer(15, quobyteVolumeSource),
  azureDisk: pointer(16, azureDiskVolumeSource),
  photonPersistentDisk: pointer(17, photonPersistentDiskVolumeSource),
  portworxVolume: pointer(18, portworxVolumeSource),
  scaleIO: pointer(19, scaleIOPersistentVolumeSource),
  local: pointer(20, localVolumeSource),
  storageos: pointer(21, storageOSPersistentVolumeSource),
  csi: pointer(22, csiPersistentVolumeSource),
});
export type PersistentVolumeSource = Infer<typeof persistentVolumeSource>;

export const persistentVolumeReclaimPolicy = enumOf('Delete', 'Recycle', 'Retain');
export type PersistentVolumeReclaimPolicy = Infer<typeof persistentVolumeReclaimPolicy>;

export const volumeNodeAffinity = struct('core.v1.VolumeNodeAffinity', {
  required: pointer(1, nodeSelector),
});
export type VolumeNodeAffinity = Infer<typeof volumeNodeAffinity>;

export const persistentVolumeSpec = struct(
  'core.v1.PersistentVolumeSpec',
  {
    capacity: optional(1, resourceList, { doc: 'Size of the volume.' }),
    persistentVolumeSource: inline(2, persistentVolumeSource),
    accessModes: optional(3, list(persistentVolumeAccessMode), { doc: 'How it can be mounted.' }),
    claimRef: pointer(4, objectReference, { mapType: 'granular', doc: 'The claim that has it.' }),
    persistentVolumeReclaimPolicy: optional(5, persistentVolumeReclaimPolicy, {
      doc: 'What happens after the claim is gone: Retain, Delete or Recycle.',
    }),
    storageClassName: optional(6, string, { doc: 'Class of the volume.' }),
    mountOptions: optional(7, list(string), { doc: 'Options for mounting.' }),
    volumeMode: pointer(8, persistentVolumeMode, { doc: 'Filesystem or Block.' }),
    nodeAffinity: pointer(9, volumeNodeAffinity, { doc: 'Nodes that can reach it.' }),
    volumeAttributesClassName: pointer(10, string),
  },
  { doc: 'What the storage is and who may have it.' },
);
export type PersistentVolumeSpec = Infer<typeof persistentVolumeSpec>;

export const persistentVolumePhase = enumOf('Available', 'Bound', 'Failed', 'Pending', 'Released');
export type PersistentVolumePhase = Infer<typeof persistentVolumePhase>;

export const persistentVolumeStatus = struct(
  'core.v1.PersistentVolumeStatus',
  {
    phase: optional(1, persistentVolumePhase, { doc: 'Pending, Available, Bound, Released or Failed.' }),
    message: optional(2, string, { doc: 'Text for people: why it is in this state.' }),
    reason: optional(3, string, { doc: 'Short word for programs: why it is in this state.' }),
    lastPhaseTransitionTime: pointer(4, time),
  },
  { doc: 'How a volume is used.' },
);
export type PersistentVolumeStatus = Infer<typeof persistentVolumeStatus>;

export const persistentVolume = kind(
  { group: '', version: 'v1', kind: 'PersistentVolume', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, persistentVolumeSpec),
    status: always(3, persistentVolumeStatus),
  },
  { doc: 'A piece of storage of the cluster.' },
);
export type PersistentVolume = Infer<typeof persistentVolume>;

export const persistentVolumeList = listKind(persistentVolume);
export type PersistentVolumeList = Infer<typeof persistentVolumeList>;
