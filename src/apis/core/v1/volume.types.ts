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
} from '../../../machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { pullPolicy } from './container.types.js';
import { persistentVolumeClaimSpec } from './persistent-volume-claim-spec.types.js';
import { localObjectReference } from './reference.types.js';
import { keyToPath, objectFieldSelector, resourceFieldSelector } from './selector.types.js';
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
  medium: optional(1, storageMedium),
  sizeLimit: pointer(2, quantity),
});
export type EmptyDirVolumeSource = Infer<typeof emptyDirVolumeSource>;

export const secretVolumeSource = struct('core.v1.SecretVolumeSource', {
  secretName: optional(1, string),
  items: optional(2, list(keyToPath)),
  defaultMode: pointer(3, int32),
  optional: pointer(4, bool),
});
export type SecretVolumeSource = Infer<typeof secretVolumeSource>;

export const persistentVolumeClaimVolumeSource = struct('core.v1.PersistentVolumeClaimVolumeSource', {
  claimName: required(1, string),
  readOnly: optional(2, bool),
});
export type PersistentVolumeClaimVolumeSource = Infer<typeof persistentVolumeClaimVolumeSource>;

export const downwardAPIVolumeFile = struct('core.v1.DownwardAPIVolumeFile', {
  path: required(1, string),
  fieldRef: pointer(2, objectFieldSelector),
  resourceFieldRef: pointer(3, resourceFieldSelector),
  mode: pointer(4, int32),
});
export type DownwardAPIVolumeFile = Infer<typeof downwardAPIVolumeFile>;

export const downwardAPIVolumeSource = struct('core.v1.DownwardAPIVolumeSource', {
  items: optional(1, list(downwardAPIVolumeFile)),
  defaultMode: pointer(2, int32),
});
export type DownwardAPIVolumeSource = Infer<typeof downwardAPIVolumeSource>;

export const configMapVolumeSource = struct('core.v1.ConfigMapVolumeSource', {
  localObjectReference: inline(1, localObjectReference),
  items: optional(2, list(keyToPath)),
  defaultMode: pointer(3, int32),
  optional: pointer(4, bool),
});
export type ConfigMapVolumeSource = Infer<typeof configMapVolumeSource>;

export const secretProjection = struct('core.v1.SecretProjection', {
  localObjectReference: inline(1, localObjectReference),
  items: optional(2, list(keyToPath)),
  optional: pointer(4, bool),
});
export type SecretProjection = Infer<typeof secretProjection>;

export const downwardAPIProjection = struct('core.v1.DownwardAPIProjection', {
  items: optional(1, list(downwardAPIVolumeFile)),
});
export type DownwardAPIProjection = Infer<typeof downwardAPIProjection>;

export const configMapProjection = struct('core.v1.ConfigMapProjection', {
  localObjectReference: inline(1, localObjectReference),
  items: optional(2, list(keyToPath)),
  optional: pointer(4, bool),
});
export type ConfigMapProjection = Infer<typeof configMapProjection>;

export const serviceAccountTokenProjection = struct('core.v1.ServiceAccountTokenProjection', {
  audience: optional(1, string),
  expirationSeconds: pointer(2, int64),
  path: required(3, string),
});
export type ServiceAccountTokenProjection = Infer<typeof serviceAccountTokenProjection>;

export const clusterTrustBundleProjection = struct('core.v1.ClusterTrustBundleProjection', {
  name: pointer(1, string),
  signerName: pointer(2, string),
  labelSelector: pointer(3, labelSelector),
  optional: pointer(5, bool),
  path: required(4, string),
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
  defaultMode: pointer(2, int32),
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
  hostPath: pointer(1, hostPathVolumeSource),
  emptyDir: pointer(2, emptyDirVolumeSource),
  gcePersistentDisk: pointer(3, gcePersistentDiskVolumeSource),
  awsElasticBlockStore: pointer(4, awsElasticBlockStoreVolumeSource),
  gitRepo: pointer(5, gitRepoVolumeSource),
  secret: pointer(6, secretVolumeSource),
  nfs: pointer(7, nfsVolumeSource),
  iscsi: pointer(8, iscsiVolumeSource),
  glusterfs: pointer(9, glusterfsVolumeSource),
  persistentVolumeClaim: pointer(10, persistentVolumeClaimVolumeSource),
  rbd: pointer(11, rbdVolumeSource),
  flexVolume: pointer(12, flexVolumeSource),
  cinder: pointer(13, cinderVolumeSource),
  cephfs: pointer(14, cephFSVolumeSource),
  flocker: pointer(15, flockerVolumeSource),
  downwardAPI: pointer(16, downwardAPIVolumeSource),
  fc: pointer(17, fcVolumeSource),
  azureFile: pointer(18, azureFileVolumeSource),
  configMap: pointer(19, configMapVolumeSource),
  vsphereVolume: pointer(20, vsphereVirtualDiskVolumeSource),
  quobyte: pointer(21, quobyteVolumeSource),
  azureDisk: pointer(22, azureDiskVolumeSource),
  photonPersistentDisk: pointer(23, photonPersistentDiskVolumeSource),
  projected: pointer(26, projectedVolumeSource),
  portworxVolume: pointer(24, portworxVolumeSource),
  scaleIO: pointer(25, scaleIOVolumeSource),
  storageos: pointer(27, storageOSVolumeSource),
  csi: pointer(28, csiVolumeSource),
  ephemeral: pointer(29, ephemeralVolumeSource),
  image: pointer(30, imageVolumeSource),
});
export type VolumeSource = Infer<typeof volumeSource>;

export const volume = struct('core.v1.Volume', {
  name: required(1, string),
  volumeSource: inline(2, volumeSource),
});
export type Volume = Infer<typeof volume>;
