import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const items = 'Which entries, and under which paths; all if empty.';
const filePath = 'Path of the file in the volume; without "..".';
const attributesClass = 'Name of the class with its adjustable settings.';

/** Descriptions of volumes and claims in the core group, without the sources. */
export const volumeDescriptions: FieldDescriptions = {
  'core.AttachedVolume': {
    '': 'A volume that is attached to a node.',
    name: 'Name of the volume.',
    devicePath: 'Device that it is on the node.',
  },
  'core.ClusterTrustBundleProjection': {
    '': 'Trusted certificates as a file.',
    name: 'Name of the one bundle; not together with signerName.',
    signerName: 'Signer whose bundles are put together.',
    path: filePath,
  },
  'core.ConfigMapProjection': { '': 'Entries of a config map as files.', items },
  'core.ConfigMapVolumeSource': { '': 'Entries of a config map as files.' },
  'core.DownwardAPIProjection': { '': 'Facts about the pod as files.', items: 'The files.' },
  'core.DownwardAPIVolumeFile': {
    '': 'A fact about the pod as a file.',
    path: filePath,
    fieldRef: 'Field of the pod with the content.',
    resourceFieldRef: 'Request or limit of a container with the content.',
    mode: 'Permission bits of the file; those of the volume if not given.',
  },
  'core.DownwardAPIVolumeSource': { '': 'Facts about the pod as files.', items: 'The files.' },
  'core.ImageVolumeStatus': { '': 'The image behind a volume.', imageRef: 'The image with its digest.' },
  'core.KeyToPath': { '': 'An entry, and the file it becomes.' },
  'core.ModifyVolumeStatus': {
    '': 'How far a change of the attributes class has come.',
    targetVolumeAttributesClassName: 'Class that the volume is being changed to.',
    status: 'Pending, InProgress or Infeasible.',
  },
  'core.PersistentVolumeClaimSpec': { volumeAttributesClassName: attributesClass },
  'core.PersistentVolumeClaimStatus': {
    allocatedResources: 'Size that is being set up; may be above capacity while it grows.',
    allocatedResourceStatuses: 'How far growing has come, by resource.',
    currentVolumeAttributesClassName: 'Name of the attributes class in force.',
    modifyVolumeStatus: 'How far a change of the attributes class has come.',
  },
  'core.PersistentVolumeClaimTemplate': {
    '': 'What made claims look like.',
    metadata: 'Labels and annotations of the claims.',
    spec: 'What is claimed.',
  },
  'core.PersistentVolumeSpec': { volumeAttributesClassName: attributesClass },
  'core.PersistentVolumeStatus': { lastPhaseTransitionTime: 'When the phase last changed.' },
  'core.PodCertificateProjection': {
    '': 'A key and a certificate for the pod as files.',
    signerName: 'Who signs the certificate.',
    keyType: 'Kind of the key, such as ED25519, ECDSAP256 or RSA3072.',
    maxExpirationSeconds: 'Longest validity, in seconds; 86400 if not given.',
    credentialBundlePath: 'File with key and certificates together, in PEM.',
    keyPath: 'File with the key alone, in PEM.',
    certificateChainPath: 'File with the certificates alone, in PEM.',
    userAnnotations: 'Hints for the signer.',
  },
  'core.ProjectedVolumeSource': {
    '': 'Several sources in one directory.',
    sources: 'The sources, one field set in each.',
  },
  'core.SecretProjection': { '': 'Entries of a secret as files.', items },
  'core.SecretVolumeSource': { '': 'Entries of a secret as files.' },
  'core.ServiceAccountTokenProjection': {
    '': 'A token of the account of the pod as a file.',
    audience: 'Whom the token is meant for; the API server if not given.',
    expirationSeconds: 'How long it is valid, in seconds; 3600 if not given, at least 600. It is renewed in time.',
    path: filePath,
  },
  'core.TypedLocalObjectReference': {
    '': 'Points to an object in the same namespace.',
    apiGroup: 'Group of the object; none is the core group.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
  },
  'core.TypedObjectReference': {
    '': 'Points to an object, maybe in another namespace.',
    apiGroup: 'Group of the object; none is the core group.',
    kind: 'Kind of the object.',
    name: 'Name of the object.',
    namespace: 'Namespace of the object; the same one if not given.',
  },
  'core.VolumeDevice': {
    '': 'A block device in a container.',
    name: 'Claim volume of the pod that it is.',
    devicePath: 'Path of the device in the container.',
  },
  'core.VolumeMountStatus': {
    '': 'A mount as it was made.',
    name: 'Name of the volume.',
    mountPath: 'Path in the container.',
    recursiveReadOnly: 'Whether mounts below are read-only too: Disabled, Enabled or IfPossible.',
    volumeStatus: 'What is known about the volume.',
  },
  'core.VolumeNodeAffinity': { '': 'Nodes that can reach a volume.', required: 'What the nodes must have.' },
  'core.VolumeProjection': {
    '': 'One source of a projected volume.',
    secret: 'Entries of a secret.',
    downwardAPI: 'Facts about the pod.',
    configMap: 'Entries of a config map.',
    serviceAccountToken: 'A token of the account of the pod.',
    clusterTrustBundle: 'Trusted certificates.',
    podCertificate: 'A key and a certificate for the pod.',
  },
  'core.VolumeStatus': { '': 'What is known about a mounted volume.', image: 'The image, for image volumes.' },
};
