import {
  always,
  bool,
  enumOf,
  type Infer,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { nodeSelector } from '../../core/v1/node-selector.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { counterSet, device } from './device.types.js';

export const resourcePool = struct('resource.v1.ResourcePool', {
  name: required(1, string),
  generation: required(2, int64),
  resourceSliceCount: required(3, int64),
});
export type ResourcePool = Infer<typeof resourcePool>;

export const resourceSliceSpec = struct('resource.v1.ResourceSliceSpec', {
  driver: required(1, string),
  pool: required(2, resourcePool),
  nodeName: pointer(3, string),
  nodeSelector: pointer(4, nodeSelector),
  allNodes: pointer(5, bool),
  devices: optional(6, list(device), { listType: 'atomic' }),
  perDeviceNodeSelection: pointer(7, bool),
  sharedCounters: optional(8, list(counterSet), { listType: 'atomic' }),
  partitionTypeAttribute: pointer(9, string),
  skipNodeOperations: optional(10, list(enumOf('*', 'NodePrepareResources', 'NodeUnprepareResources')), {
    listType: 'set',
  }),
});
export type ResourceSliceSpec = Infer<typeof resourceSliceSpec>;

export const resourceSlice = kind(
  { group: 'resource', version: 'v1', kind: 'ResourceSlice', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, resourceSliceSpec),
  },
  { doc: 'Devices that a driver offers, or a part of them.' },
);
export type ResourceSlice = Infer<typeof resourceSlice>;

export const resourceSliceList = listKind(resourceSlice);
export type ResourceSliceList = Infer<typeof resourceSliceList>;
