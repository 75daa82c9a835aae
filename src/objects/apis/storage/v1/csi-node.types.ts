import {
  always,
  type Infer,
  int32,
  kind,
  list,
  mergedBy,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
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

export const csiNode = kind(
  { group: 'storage', version: 'v1', kind: 'CSINode', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, csiNodeSpec),
  },
  { doc: 'The storage drivers of a node.' },
);
export type CSINode = Infer<typeof csiNode>;

export const csiNodeList = listKind(csiNode);
export type CSINodeList = Infer<typeof csiNodeList>;
