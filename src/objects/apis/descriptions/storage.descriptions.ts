import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

/** Descriptions of the group `storage`. */
export const storageDescriptions: FieldDescriptions = {
  'storage.CSIDriverSpec': {
    '': 'What the driver can do and needs.',
    attachRequired: 'Whether volumes are attached to a node before they are mounted; true if not given.',
    podInfoOnMount: 'Whether the driver receives facts about the pod when it mounts; false if not given.',
    volumeLifecycleModes: 'Persistent (default), Ephemeral, or both.',
    storageCapacity: 'Whether the free space that the driver reports guides scheduling; false if not given.',
    fsGroupPolicy: 'Whether the group of a volume is changed: ReadWriteOnceWithFSType (default), File or None.',
    tokenRequests: "Tokens of the pod's account that the driver gets.",
    requiresRepublish: 'Whether the driver is called again and again while a volume is mounted.',
    seLinuxMount: 'Whether the driver mounts with an SELinux label; false if not given.',
    nodeAllocatableUpdatePeriodSeconds:
      'How often the number of volumes a node can take is asked for, in seconds; at least 10.',
    serviceAccountTokenInSecrets: 'Whether tokens are passed among the secrets, not in the volume context.',
    preventPodSchedulingIfMissing: 'Whether pods with its volumes stay off nodes that lack the driver.',
  },
  'storage.CSINodeDriver': {
    '': 'A driver on this node.',
    name: 'Name of the driver.',
    nodeID: 'What the driver calls the node.',
    topologyKeys: 'Labels of the node that the driver knows places by.',
    allocatable: 'How many volumes the node can take.',
  },
  'storage.CSINodeSpec': { '': 'Drivers of the node.' },
  'storage.TokenRequest': {
    audience: 'Whom the token is meant for; empty is the API server.',
    expirationSeconds: 'How long it is valid, in seconds; at least 600.',
  },
  'storage.VolumeAttachmentSource': {
    '': 'The volume to attach; one of the fields is set.',
    persistentVolumeName: 'Name of the persistent volume.',
    inlineVolumeSpec: 'The volume itself, for pods that were moved to a driver.',
  },
  'storage.VolumeAttachmentSpec': { '': 'Which volume goes to which node.' },
  'storage.VolumeAttachmentStatus': { '': 'Whether the volume is attached.' },
  'storage.VolumeError': {
    '': 'A failure with a volume.',
    time: 'When it happened.',
    message: 'What happened, for people and without secrets.',
    errorCode: 'Code of the answer of the driver, as in gRPC.',
  },
  'storage.VolumeNodeResources': {
    '': 'Limits of a node for one driver.',
    count: 'Most volumes of the driver; no limit if not given.',
  },
};
