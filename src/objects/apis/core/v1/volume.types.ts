import {
  always,
  bool,
  enumOf,
  type Infer,
  inline,
  int32,
  int64,
  list,
  map,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { pullPolicy } from './container.types.js';
import { persistentVolumeClaimSpec } from './persistent-volume-claim-spec.types.js';
import { localObjectReference } from './reference.types.js';
import { keyToPath, objectFieldSelector, resourceFieldSelector } from './source-selector.types.js';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cephFSVolumeSource,
  cinderVolumeSource,
  csiVolumeSource,
  fcVolumeSource,
  flexVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  gitRepoVolumeSource,
  glusterfsVolumeSource,
  hostPathVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIOVolumeSource,
  storageOSVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './volume-source.types.js';

export const storageMedium = enumOf('', 'HugePages', 'HugePages-', 'Memory');
export type StorageMedium = Infer<typeof storageMedium>;

export const emptyDirVolumeSource = struct('core.v1.EmptyDirVolumeSource', {
  medium: optional(1, storageMedium, { doc: "Memory, or the node's storage if empty." }),
  sizeLimit: pointer(2, quantity, { doc: 'The most that may be stored.' }),
  mode: pointer(3, int32, { dropped: true, doc: 'Permission bits of the directory.' }),
});
export type EmptyDirVolumeSource = Infer<typeof emptyDirVolumeSource>;

export const secretVolumeSource = struct('core.v1.SecretVolumeSource', {
  secretName: optional(1, string, { doc: 'Name of the secret.' }),
  items: optional(2, list(keyToPath), { doc: 'Which entries, and under which paths; all if empty.' }),
  defaultMode: pointer(3, int32, { doc: 'Permission bits of files that say nothing else.' }),
  optional: pointer(4, bool, { doc: 'Whether it may be missing.' }),
  defaultUser: pointer(5, int64, { dropped: true, doc: 'User that the files belong to.' }),
});
export type SecretVolumeSource = Infer<typeof secretVolumeSource>;

export const persistentVolumeClaimVolumeSource = struct('core.v1.PersistentVolumeClaimVolumeSource', {
  claimName: required(1, string, { doc: "Claim in the pod's namespace." }),
  readOnly: optional(2, bool, { doc: 'Whether writing is forbidden.' }),
});
export type PersistentVolumeClaimVolumeSource = Infer<typeof persistentVolumeClaimVolumeSource>;

export const downwardAPIVolumeFile = struct('core.v1.DownwardAPIVolumeFile', {
  path: required(1, string),
  fieldRef: pointer(2, objectFieldSelector),
  resourceFieldRef: pointer(3, resourceFieldSelector),
  mode: pointer(4, int32),
  user: pointer(5, int64, { dropped: true, doc: 'User that the file belongs to.' }),
});
export type DownwardAPIVolumeFile = Infer<typeof downwardAPIVolumeFile>;

export const downwardAPIVolumeSource = struct('core.v1.DownwardAPIVolumeSource', {
  items: optional(1, list(downwardAPIVolumeFile)),
  defaultMode: pointer(2, int32, { doc: 'Permission bits of files that say nothing else.' }),
  defaultUser: pointer(3, int64, { dropped: true, doc: 'User that the files belong to.' }),
});
export type DownwardAPIVolumeSource = Infer<typeof downwardAPIVolumeSource>;

export const configMapVolumeSource = struct('core.v1.ConfigMapVolumeSource', {
  localObjectReference: inline(1, localObjectReference),
  items: optional(2, list(keyToPath), { doc: 'Which entries, and under which paths; all if empty.' }),
  defaultMode: pointer(3, int32, { doc: 'Permission bits of files that say nothing else.' }),
  optional: pointer(4, bool, { doc: 'Whether it may be missing.' }),
  defaultUser: pointer(5, int64, { dropped: true, doc: 'User that the files belong to.' }),
});
export type ConfigMapVolumeSource = Infer<typeof configMapVolumeSource>;

export const secretProjection = struct('core.v1.SecretProjection', {
  localObjectReference: inline(1, localObjectReference),
  items: optional(2, list(keyToPath)),
  optional: pointer(4, bool, { doc: 'Whether it may be missing.' }),
});
export type SecretProjection = Infer<typeof secretProjection>;

export const downwardAPIProjection = struct('core.v1.DownwardAPIProjection', {
  items: optional(1, list(downwardAPIVolumeFile)),
});
export type DownwardAPIProjection = Infer<typeof downwardAPIProjection>;

export const configMapProjection = struct('core.v1.ConfigMapProjection', {
  localObjectReference: inline(1, localObjectReference),
  items: optional(2, list(keyToPath)),
  optional: pointer(4, bool, { doc: 'Whether it may be missing.' }),
});
export type ConfigMapProjection = Infer<typeof configMapProjection>;

export const serviceAccountTokenProjection = struct('core.v1.ServiceAccountTokenProjection', {
  audience: optional(1, string),
  expirationSeconds: pointer(2, int64),
  path: required(3, string),
  user: pointer(4, int64, { dropped: true, doc: 'User that the file belongs to.' }),
});
export type ServiceAccountTokenProjection = Infer<typeof serviceAccountTokenProjection>;

export const clusterTrustBundleProjection = struct('core.v1.ClusterTrustBundleProjection', {
  name: pointer(1, string),
  signerName: pointer(2, string),
  labelSelector: pointer(3, labelSelector, { doc: 'Chooses by labels.' }),
  optional: pointer(5, bool, { doc: 'Whether it may be missing.' }),
  path: required(4, string),
  user: pointer(6, int64, { dropped: true, doc: 'User that the file belongs to.' }),
});
export type ClusterTrustBundleProjection = Infer<typeof clusterTrustBundleProjection>;

export const podCertificateProjection = struct('core.v1.PodCertificateProjection', {
  signerName: optional(1, string),
  keyType: optional(2, string),
  maxExpirationSeconds: pointer(3, int32),
  credentialBundlePath: optional(4, string),
  keyPath: optional(5, string),
  certificateChainPath: optional(6, string),
  userAnnotations: optional(7, map(string)),
  user: pointer(8, int64, { dropped: true, doc: 'User that the files belong to.' }),
});
export type PodCertificateProjection = Infer<typeof podCertificateProjection>;

export const volumeProjection = struct('core.v1.VolumeProjection', {
  secret: pointer(1, secretProjection),
  downwardAPI: pointer(2, downwardAPIProjection),
  configMap: pointer(3, configMapProjection),
  serviceAccountToken: pointer(4, serviceAccountTokenProjection),
  clusterTrustBundle: pointer(5, clusterTrustBundleProjection),
  podCertificate: pointer(6, podCertificateProjection),
});
export type VolumeProjection = Infer<typeof volumeProjection>;

export const projectedVolumeSource = struct('core.v1.ProjectedVolumeSource', {
  sources: always(1, list(volumeProjection)),
  defaultMode: pointer(2, int32, { doc: 'Permission bits of files that say nothing else.' }),
  defaultUser: pointer(3, int64, { dropped: true, doc: 'User that the files belong to.' }),
});
export type ProjectedVolumeSource = Infer<typeof projectedVolumeSource>;

export const persistentVolumeClaimTemplate = struct('core.v1.PersistentVolumeClaimTemplate', {
  metadata: always(1, objectMeta),
  spec: required(2, persistentVolumeClaimSpec),
});
export type PersistentVolumeClaimTemplate = Infer<typeof persistentVolumeClaimTemplate>;

export const ephemeralVolumeSource = struct('core.v1.EphemeralVolumeSource', {
  volumeClaimTemplate: pointer(1, persistentVolumeClaimTemplate),
});
export type EphemeralVolumeSource = Infer<typeof ephemeralVolumeSource>;

export const imageVolumeSource = struct('core.v1.ImageVolumeSource', {
  reference: optional(1, string),
  pullPolicy: optional(2, pullPolicy),
});
export type ImageVolumeSource = Infer<typeof imageVolumeSource>;

export const volumeSource = struct('core.v1.VolumeSource', {
  hostPath: pointer(1, hostPathVolumeSource, { doc: 'A path of the node.' }),
  emptyDir: pointer(2, emptyDirVolumeSource, { doc: 'Empty directory that goes with the pod.' }),
  gcePersistentDisk: pointer(3, gcePersistentDiskVolumeSource),
  awsElasticBlockStore: pointer(4, awsElasticBlockStoreVolumeSource),
  gitRepo: pointer(5, gitRepoVolumeSource),
  secret: pointer(6, secretVolumeSource, { doc: 'Entries of a secret as files.' }),
  nfs: pointer(7, nfsVolumeSource, { doc: 'An NFS share.' }),
  iscsi: pointer(8, iscsiVolumeSource, { doc: 'An iSCSI disk.' }),
  glusterfs: pointer(9, glusterfsVolumeSource),
  persistentVolumeClaim: pointer(10, persistentVolumeClaimVolumeSource, { doc: 'A claimed volume.' }),
  rbd: pointer(11, rbdVolumeSource),
  flexVolume: pointer(12, flexVolumeSource),
  cinder: pointer(13, cinderVolumeSource),
  cephfs: pointer(14, cephFSVolumeSource),
  flocker: pointer(15, flockerVolumeSource),
  downwardAPI: pointer(16, downwardAPIVolumeSource, { doc: 'Fields of the pod as files.' }),
  fc: pointer(17, fcVolumeSource),
  azureFile: pointer(18, azureFileVolumeSource),
  configMap: pointer(19, configMapVolumeSource, { doc: 'Entries of a config map as files.' }),
  vsphereVolume: pointer(20, vsphereVirtualDiskVolumeSource),
  quobyte: pointer(21, quobyteVolumeSource),
  azureDisk: pointer(22, azureDiskVolumeSource),
  photonPersistentDisk: pointer(23, photonPersistentDiskVolumeSource),
  projected: pointer(26, projectedVolumeSource, { doc: 'Several sources in one directory.' }),
  portworxVolume: pointer(24, portworxVolumeSource),
  scaleIO: pointer(25, scaleIOVolumeSource),
  storageos: pointer(27, storageOSVolumeSource),
  csi: pointer(28, csiVolumeSource, { doc: 'A volume of a CSI driver.' }),
  ephemeral: pointer(29, ephemeralVolumeSource, { doc: 'A claim made for this pod only.' }),
  image: pointer(30, imageVolumeSource, { doc: 'Files of an image.' }),
});
export type VolumeSource = Infer<typeof volumeSource>;

export const volume = struct(
  'core.v1.Volume',
  {
    name: required(1, string, { doc: 'Unique within the pod.' }),
    volumeSource: inline(2, volumeSource),
  },
  { doc: 'A directory that containers of a pod can mount.' },
);
export type Volume = Infer<typeof volume>;
