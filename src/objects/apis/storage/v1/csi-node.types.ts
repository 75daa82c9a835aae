import {
  always,
  enumOf,
  type Infer,
  int32,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { persistentVolumeAccessMode, persistentVolumeMode } from '../../core/v1/persistent-volume-claim-spec.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const volumeNodeResources = struct('storage.v1.VolumeNodeResources', {
  count: pointer(1, int32),
});
export type VolumeNodeResources = Infer<typeof volumeNodeResources>;

export const csiNodeDriver = struct('storage.v1.CSINodeDriver', {
  name: required(1, string),
  nodeID: required(2, string),
  topologyKeys: always(3, list(string)),
  allocatable: pointer(4, volumeNodeResources),
});
export type CSINodeDriver = Infer<typeof csiNodeDriver>;

export const csiNodeSpec = struct('storage.v1.CSINodeSpec', {
  drivers: required(1, list(csiNodeDriver), {
    ...mergedBy('name'),
    doc: 'Drivers and what the node is called by them.',
  }),
});
export type CSINodeSpec = Infer<typeof csiNodeSpec>;

export const storageHealthStatusType = enumOf('StorageDegraded', 'StorageUnreachable');
export type StorageHealthStatusType = Infer<typeof storageHealthStatusType>;

export const storageHealthCondition = struct(
  'storage.v1.StorageHealthCondition',
  {
    status: required(1, storageHealthStatusType, { doc: 'What is wrong.' }),
    reason: required(2, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(3, string, { doc: 'Text for people: why the status is so.' }),
    accessMode: pointer(4, persistentVolumeAccessMode, {
      doc: 'The volumes it is about, by the way they are mounted.',
    }),
    volumeMode: pointer(5, persistentVolumeMode, { doc: 'The volumes it is about, by their form.' }),
    lastTransitionTime: always(6, time, { doc: 'When the status last changed.' }),
  },
  { doc: 'Something that is wrong with the storage of a driver.' },
);
export type StorageHealthCondition = Infer<typeof storageHealthCondition>;

export const storageHealth = struct(
  'storage.v1.StorageHealth',
  {
    name: required(1, string, { doc: 'Name of the driver.' }),
    healthConditions: optional(2, list(storageHealthCondition), { listType: 'atomic', doc: 'What is wrong.' }),
  },
  { doc: 'How the storage of a driver is doing on the node.' },
);
export type StorageHealth = Infer<typeof storageHealth>;

export const csiNodeStatus = struct(
  'storage.v1.CSINodeStatus',
  {
    storageHealth: optional(1, list(storageHealth), {
      ...mergedBy('name'),
      dropped: true,
      doc: 'Drivers with which something is wrong.',
    }),
  },
  { doc: 'How the drivers of a node are doing.' },
);
export type CSINodeStatus = Infer<typeof csiNodeStatus>;

export const csiNode = kind(
  { group: 'storage', version: 'v1', kind: 'CSINode', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, csiNodeSpec),
    status: always(3, csiNodeStatus),
  },
  { doc: 'The storage drivers of a node.' },
);
export type CSINode = Infer<typeof csiNode>;

export const csiNodeList = listKind(csiNode);
export type CSINodeList = Infer<typeof csiNodeList>;
