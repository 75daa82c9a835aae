import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const attributes = 'Settings for the driver; their names are its own.';
const monitors = 'Addresses of the Ceph monitors.';

/** Sources that both pods and persistent volumes have. */
const sources = {
  gcePersistentDisk: 'A disk of Google Compute Engine. Old; use csi.',
  awsElasticBlockStore: 'A disk of Amazon EBS. Old; use csi.',
  glusterfs: 'A GlusterFS volume. Old.',
  rbd: 'A Ceph block device. Old; use csi.',
  flexVolume: 'A volume of a driver that is a program on the node. Old; use csi.',
  cinder: 'A disk of OpenStack Cinder. Old; use csi.',
  cephfs: 'A Ceph file system. Old; use csi.',
  flocker: 'A Flocker dataset. Old.',
  fc: 'A Fibre Channel disk.',
  azureFile: 'A file share of Azure. Old; use csi.',
  vsphereVolume: 'A disk of vSphere. Old; use csi.',
  quobyte: 'A Quobyte volume. Old.',
  azureDisk: 'A disk of Azure. Old; use csi.',
  photonPersistentDisk: 'A disk of Photon Controller. Old.',
  portworxVolume: 'A Portworx volume. Old; use csi.',
  scaleIO: 'A ScaleIO volume. Old.',
  storageos: 'A StorageOS volume. Old.',
};
const azureFile = {
  '': sources.azureFile,
  secretName: 'Secret with name and key of the storage account.',
  shareName: 'Name of the share.',
};
const cephfs = {
  '': sources.cephfs,
  monitors,
  path: 'Directory to mount; / if not given.',
  user: 'Ceph user; admin if not given.',
  secretFile: 'Key ring on the node; /etc/ceph/user.secret if not given.',
};
const cinder = { '': sources.cinder, volumeID: 'Id of the disk.' };
const flex = { '': sources.flexVolume, driver: 'Name of the driver.', options: 'Further options for the driver.' };
const glusterfs = {
  '': sources.glusterfs,
  endpoints: 'Endpoints object with the servers.',
  path: 'Name of the volume.',
};
const iscsi = {
  '': 'An iSCSI disk.',
  targetPortal: 'Address of the target, with a port unless it is 3260.',
  iqn: 'Name of the target.',
  lun: 'Number of the disk at the target.',
  iscsiInterface: 'Transport that is used; default (tcp) if not given.',
  portals: 'Further addresses of the target.',
  chapAuthDiscovery: 'Whether CHAP is used to find targets.',
  chapAuthSession: 'Whether CHAP is used for sessions.',
  initiatorName: 'Name that the node goes by towards the target.',
};
const rbd = {
  '': sources.rbd,
  monitors,
  image: 'Name of the image.',
  pool: 'Pool that the image is in; rbd if not given.',
  user: 'Ceph user; admin if not given.',
  keyring: 'Key ring on the node; /etc/ceph/keyring if not given.',
};
const scaleIO = {
  '': sources.scaleIO,
  gateway: 'Address of the gateway.',
  system: 'Name of the storage system.',
  sslEnabled: 'Whether the gateway is talked to with TLS; false if not given.',
  protectionDomain: 'Protection domain that the storage is in.',
  storagePool: 'Storage pool within that domain.',
  storageMode: 'ThickProvisioned or ThinProvisioned, which is the default.',
  volumeName: 'Name of the volume.',
};
const storageos = {
  '': sources.storageos,
  volumeName: 'Name of the volume, unique in its namespace.',
  volumeNamespace: "Namespace at StorageOS; the pod's if not given.",
};

/** Descriptions of the sources of volumes in the core group. */
export const volumeSourceDescriptions: FieldDescriptions = {
  'core.VolumeSource': { '': 'Where a volume comes from.', ...sources, gitRepo: 'A clone of a git repository. Old.' },
  'core.PersistentVolumeSource': {
    '': 'Where a persistent volume comes from.',
    ...sources,
    hostPath: 'A path of a node; for tests on one node.',
    nfs: 'An NFS share.',
    iscsi: 'An iSCSI disk.',
    local: 'A disk or directory of one node.',
    csi: 'A volume of a CSI driver.',
  },
  'core.AWSElasticBlockStoreVolumeSource': {
    '': sources.awsElasticBlockStore,
    volumeID: 'Id of the disk.',
    partition: 'Number of the partition; 0 is the whole disk.',
  },
  'core.AzureDiskVolumeSource': {
    '': sources.azureDisk,
    diskName: 'Name of the disk.',
    diskURI: 'Address of the disk.',
    cachingMode: 'How the host caches: None, ReadOnly or ReadWrite.',
    kind: 'Where the disk is kept: Shared, Dedicated or Managed.',
  },
  'core.AzureFilePersistentVolumeSource': {
    ...azureFile,
    secretNamespace: 'Namespace of the secret; that of the pod if not given.',
  },
  'core.AzureFileVolumeSource': azureFile,
  'core.CSIPersistentVolumeSource': {
    '': 'A volume of a CSI driver.',
    driver: 'Name of the driver.',
    volumeHandle: 'What the driver calls the volume. Never changes.',
    volumeAttributes: attributes,
    controllerPublishSecretRef: 'Secret for attaching the volume and detaching it.',
    nodeStageSecretRef: 'Secret for preparing the volume on a node.',
    nodePublishSecretRef: 'Secret for mounting the volume into a pod.',
    controllerExpandSecretRef: 'Secret for enlarging the volume.',
    nodeExpandSecretRef: 'Secret for enlarging the volume on a node.',
  },
  'core.CSIVolumeSource': {
    '': 'A volume that a CSI driver makes for one pod.',
    driver: 'Name of the driver.',
    volumeAttributes: attributes,
    nodePublishSecretRef: 'Secret for mounting the volume.',
  },
  'core.CephFSPersistentVolumeSource': cephfs,
  'core.CephFSVolumeSource': cephfs,
  'core.CinderPersistentVolumeSource': cinder,
  'core.CinderVolumeSource': cinder,
  'core.EmptyDirVolumeSource': { '': 'An empty directory that goes with the pod.' },
  'core.EphemeralVolumeSource': {
    '': 'A volume with a claim that goes with the pod.',
    volumeClaimTemplate: 'What the claim looks like; its name is that of the pod and the volume.',
  },
  'core.FCVolumeSource': {
    '': sources.fc,
    targetWWNs: 'World wide names of the target; together with lun.',
    lun: 'Number of the disk at the target.',
    wwids: 'World wide ids of the disk; instead of targetWWNs and lun.',
  },
  'core.FlexPersistentVolumeSource': flex,
  'core.FlexVolumeSource': flex,
  'core.FlockerVolumeSource': {
    '': sources.flocker,
    datasetName: 'Name of the dataset; not together with datasetUUID.',
    datasetUUID: 'Identity of the dataset.',
  },
  'core.GCEPersistentDiskVolumeSource': {
    '': sources.gcePersistentDisk,
    pdName: 'Name of the disk.',
    partition: 'Number of the partition; 0 is the whole disk.',
  },
  'core.GitRepoVolumeSource': {
    '': 'A clone of a git repository. Old: clone in an init container.',
    repository: 'Address of the repository.',
    revision: 'Commit to check out.',
    directory: 'Directory to clone into; the volume itself if it is a dot.',
  },
  'core.GlusterfsPersistentVolumeSource': {
    ...glusterfs,
    endpointsNamespace: 'Namespace of the endpoints; that of the claim if not given.',
  },
  'core.GlusterfsVolumeSource': glusterfs,
  'core.HostPathVolumeSource': { '': 'A path of the node.' },
  'core.ISCSIPersistentVolumeSource': iscsi,
  'core.ISCSIVolumeSource': iscsi,
  'core.ImageVolumeSource': {
    '': 'The content of an image.',
    reference: 'The image, as for containers.',
    pullPolicy: 'When it is fetched: Always (default for latest), IfNotPresent or Never.',
  },
  'core.LocalVolumeSource': { '': 'A disk or directory of one node.', path: 'Path of it on the node.' },
  'core.NFSVolumeSource': { '': 'An NFS share.', server: 'Host of the share.', path: 'Exported path on that host.' },
  'core.PersistentVolumeClaimVolumeSource': { '': 'The volume of a claim.' },
  'core.PhotonPersistentDiskVolumeSource': { '': sources.photonPersistentDisk, pdID: 'Id of the disk.' },
  'core.PortworxVolumeSource': { '': sources.portworxVolume, volumeID: 'Id of the volume.' },
  'core.QuobyteVolumeSource': {
    '': sources.quobyte,
    registry: 'Registries as host:port, with commas between.',
    volume: 'Name of the volume.',
    user: 'User that the volume is reached as.',
    group: 'Group that the volume is reached as.',
    tenant: 'Tenant that owns the volume.',
  },
  'core.RBDPersistentVolumeSource': rbd,
  'core.RBDVolumeSource': rbd,
  'core.ScaleIOPersistentVolumeSource': scaleIO,
  'core.ScaleIOVolumeSource': scaleIO,
  'core.StorageOSPersistentVolumeSource': storageos,
  'core.StorageOSVolumeSource': storageos,
  'core.VsphereVirtualDiskVolumeSource': {
    '': sources.vsphereVolume,
    volumePath: 'Path of the disk.',
    storagePolicyName: 'Name of the storage policy.',
    storagePolicyID: 'Id of that policy.',
  },
};
