import {
  bool,
  enumOf,
  type Infer,
  int32,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { localObjectReference } from './reference.types.js';

export const gcePersistentDiskVolumeSource = struct('core.v1.GCEPersistentDiskVolumeSource', {
  pdName: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  partition: optional(3, int32),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
});
export type GCEPersistentDiskVolumeSource = Infer<typeof gcePersistentDiskVolumeSource>;

export const awsElasticBlockStoreVolumeSource = struct('core.v1.AWSElasticBlockStoreVolumeSource', {
  volumeID: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  partition: optional(3, int32),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
});
export type AWSElasticBlockStoreVolumeSource = Infer<typeof awsElasticBlockStoreVolumeSource>;

export const hostPathType = enumOf(
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
);
export type HostPathType = Infer<typeof hostPathType>;

export const hostPathVolumeSource = struct('core.v1.HostPathVolumeSource', {
  path: required(1, string, { doc: 'Path on the node.' }),
  type: pointer(2, hostPathType, { doc: 'What must be there, or is made.' }),
});
export type HostPathVolumeSource = Infer<typeof hostPathVolumeSource>;

export const nfsVolumeSource = struct('core.v1.NFSVolumeSource', {
  server: required(1, string),
  path: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
});
export type NFSVolumeSource = Infer<typeof nfsVolumeSource>;

export const fcVolumeSource = struct('core.v1.FCVolumeSource', {
  targetWWNs: optional(1, list(string)),
  lun: pointer(2, int32),
  fsType: optional(3, string, { doc: 'File system of the volume.' }),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
  wwids: optional(5, list(string)),
});
export type FCVolumeSource = Infer<typeof fcVolumeSource>;

export const flockerVolumeSource = struct('core.v1.FlockerVolumeSource', {
  datasetName: optional(1, string),
  datasetUUID: optional(2, string),
});
export type FlockerVolumeSource = Infer<typeof flockerVolumeSource>;

export const vsphereVirtualDiskVolumeSource = struct('core.v1.VsphereVirtualDiskVolumeSource', {
  volumePath: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  storagePolicyName: optional(3, string),
  storagePolicyID: optional(4, string),
});
export type VsphereVirtualDiskVolumeSource = Infer<typeof vsphereVirtualDiskVolumeSource>;

export const quobyteVolumeSource = struct('core.v1.QuobyteVolumeSource', {
  registry: required(1, string),
  volume: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  user: optional(4, string),
  group: optional(5, string),
  tenant: optional(6, string),
});
export type QuobyteVolumeSource = Infer<typeof quobyteVolumeSource>;

export const azureDataDiskCachingMode = enumOf('None', 'ReadOnly', 'ReadWrite');
export type AzureDataDiskCachingMode = Infer<typeof azureDataDiskCachingMode>;

export const azureDataDiskKind = enumOf('Dedicated', 'Managed', 'Shared');
export type AzureDataDiskKind = Infer<typeof azureDataDiskKind>;

export const azureDiskVolumeSource = struct('core.v1.AzureDiskVolumeSource', {
  diskName: required(1, string),
  diskURI: required(2, string),
  cachingMode: pointer(3, azureDataDiskCachingMode, { default: 'ReadWrite' }),
  fsType: pointer(4, string, { default: 'ext4', doc: 'File system of the volume.' }),
  readOnly: pointer(5, bool, { default: false, doc: 'Whether writing is forbidden.' }),
  kind: pointer(6, azureDataDiskKind, { default: 'Shared' }),
});
export type AzureDiskVolumeSource = Infer<typeof azureDiskVolumeSource>;

export const photonPersistentDiskVolumeSource = struct('core.v1.PhotonPersistentDiskVolumeSource', {
  pdID: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
});
export type PhotonPersistentDiskVolumeSource = Infer<typeof photonPersistentDiskVolumeSource>;

export const portworxVolumeSource = struct('core.v1.PortworxVolumeSource', {
  volumeID: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
});
export type PortworxVolumeSource = Infer<typeof portworxVolumeSource>;

export const gitRepoVolumeSource = struct('core.v1.GitRepoVolumeSource', {
  repository: required(1, string),
  revision: optional(2, string),
  directory: optional(3, string),
});
export type GitRepoVolumeSource = Infer<typeof gitRepoVolumeSource>;

export const iscsiVolumeSource = struct('core.v1.ISCSIVolumeSource', {
  targetPortal: required(1, string),
  iqn: required(2, string),
  lun: required(3, int32),
  iscsiInterface: optional(4, string, { default: 'default' }),
  fsType: optional(5, string, { doc: 'File system of the volume.' }),
  readOnly: optional(6, bool, { doc: 'Whether writing is forbidden.' }),
  portals: optional(7, list(string)),
  chapAuthDiscovery: optional(8, bool),
  chapAuthSession: optional(11, bool),
  secretRef: pointer(10, localObjectReference, { doc: 'Secret with the credentials.' }),
  initiatorName: pointer(12, string),
});
export type ISCSIVolumeSource = Infer<typeof iscsiVolumeSource>;

export const glusterfsVolumeSource = struct('core.v1.GlusterfsVolumeSource', {
  endpoints: required(1, string),
  path: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
});
export type GlusterfsVolumeSource = Infer<typeof glusterfsVolumeSource>;

export const rbdVolumeSource = struct('core.v1.RBDVolumeSource', {
  monitors: required(1, list(string)),
  image: required(2, string),
  fsType: optional(3, string, { doc: 'File system of the volume.' }),
  pool: optional(4, string, { default: 'rbd' }),
  user: optional(5, string, { default: 'admin' }),
  keyring: optional(6, string, { default: '/etc/ceph/keyring' }),
  secretRef: pointer(7, localObjectReference, { doc: 'Secret with the credentials.' }),
  readOnly: optional(8, bool, { doc: 'Whether writing is forbidden.' }),
});
export type RBDVolumeSource = Infer<typeof rbdVolumeSource>;

export const flexVolumeSource = struct('core.v1.FlexVolumeSource', {
  driver: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  secretRef: pointer(3, localObjectReference, { doc: 'Secret with the credentials.' }),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
  options: optional(5, map(string)),
});
export type FlexVolumeSource = Infer<typeof flexVolumeSource>;

export const cinderVolumeSource = struct('core.v1.CinderVolumeSource', {
  volumeID: required(1, string),
  fsType: optional(2, string, { doc: 'File system of the volume.' }),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  secretRef: pointer(4, localObjectReference, { doc: 'Secret with the credentials.' }),
});
export type CinderVolumeSource = Infer<typeof cinderVolumeSource>;

export const cephFSVolumeSource = struct('core.v1.CephFSVolumeSource', {
  monitors: required(1, list(string)),
  path: optional(2, string),
  user: optional(3, string),
  secretFile: optional(4, string),
  secretRef: pointer(5, localObjectReference, { doc: 'Secret with the credentials.' }),
  readOnly: optional(6, bool, { doc: 'Whether writing is forbidden.' }),
});
export type CephFSVolumeSource = Infer<typeof cephFSVolumeSource>;

export const azureFileVolumeSource = struct('core.v1.AzureFileVolumeSource', {
  secretName: required(1, string),
  shareName: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
});
export type AzureFileVolumeSource = Infer<typeof azureFileVolumeSource>;

export const scaleIOVolumeSource = struct('core.v1.ScaleIOVolumeSource', {
  gateway: required(1, string),
  system: required(2, string),
  secretRef: required(3, localObjectReference, { nullable: true, doc: 'Secret with the credentials.' }),
  sslEnabled: optional(4, bool),
  protectionDomain: optional(5, string),
  storagePool: optional(6, string),
  storageMode: optional(7, string, { default: 'ThinProvisioned' }),
  volumeName: optional(8, string),
  fsType: optional(9, string, { default: 'xfs', doc: 'File system of the volume.' }),
  readOnly: optional(10, bool, { doc: 'Whether writing is forbidden.' }),
});
export type ScaleIOVolumeSource = Infer<typeof scaleIOVolumeSource>;

export const storageOSVolumeSource = struct('core.v1.StorageOSVolumeSource', {
  volumeName: optional(1, string),
  volumeNamespace: optional(2, string),
  fsType: optional(3, string, { doc: 'File system of the volume.' }),
  readOnly: optional(4, bool, { doc: 'Whether writing is forbidden.' }),
  secretRef: pointer(5, localObjectReference, { doc: 'Secret with the credentials.' }),
});
export type StorageOSVolumeSource = Infer<typeof storageOSVolumeSource>;

export const csiVolumeSource = struct('core.v1.CSIVolumeSource', {
  driver: required(1, string),
  readOnly: pointer(2, bool, { doc: 'Whether writing is forbidden.' }),
  fsType: pointer(3, string, { doc: 'File system of the volume.' }),
  volumeAttributes: optional(4, map(string)),
  nodePublishSecretRef: pointer(5, localObjectReference),
});
export type CSIVolumeSource = Infer<typeof csiVolumeSource>;
