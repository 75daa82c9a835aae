import {
  always,
  type Infer,
  int32,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const partitionTypeStatus = struct('resource.v1alpha3.PartitionTypeStatus', {
  attribute: optional(4, string),
  type: optional(1, string),
  total: pointer(2, int32),
  allocatable: pointer(3, int32),
});
export type PartitionTypeStatus = Infer<typeof partitionTypeStatus>;

export const shareableCapacityStatus = struct('resource.v1alpha3.ShareableCapacityStatus', {
  name: optional(1, string),
  total: pointer(2, quantity),
  consumed: pointer(3, quantity),
  available: pointer(4, quantity),
});
export type ShareableCapacityStatus = Infer<typeof shareableCapacityStatus>;

export const shareableSummaryStatus = struct('resource.v1alpha3.ShareableSummaryStatus', {
  fullyAvailableDevices: pointer(1, int32),
  partiallyAvailableDevices: pointer(2, int32),
  capacity: optional(3, list(shareableCapacityStatus), { listType: 'atomic' }),
});
export type ShareableSummaryStatus = Infer<typeof shareableSummaryStatus>;

export const poolStatus = struct('resource.v1alpha3.PoolStatus', {
  driver: optional(1, string),
  poolName: optional(2, string),
  generation: required(9, int64),
  resourceSliceCount: pointer(8, int32),
  totalDevices: pointer(4, int32),
  allocatedDevices: pointer(5, int32),
  availableDevices: pointer(6, int32),
  unavailableDevices: pointer(7, int32),
  nodeName: pointer(3, string),
  validationError: pointer(10, string),
  partitionSummary: optional(11, list(partitionTypeStatus), { listType: 'atomic' }),
  shareableSummary: pointer(13, shareableSummaryStatus),
});
export type PoolStatus = Infer<typeof poolStatus>;

export const resourcePoolStatusRequestSpec = struct('resource.v1alpha3.ResourcePoolStatusRequestSpec', {
  driver: required(1, string),
  poolName: pointer(2, string),
  limit: pointer(3, int32, { default: 100 }),
  defaultPartitionTypeAttribute: pointer(4, string),
});
export type ResourcePoolStatusRequestSpec = Infer<typeof resourcePoolStatusRequestSpec>;

export const resourcePoolStatusRequestStatus = struct('resource.v1alpha3.ResourcePoolStatusRequestStatus', {
  poolCount: pointer(6, int32),
  pools: optional(2, list(poolStatus), { listType: 'atomic' }),
  conditions: optional(3, list(condition), mergedBy('type')),
});
export type ResourcePoolStatusRequestStatus = Infer<typeof resourcePoolStatusRequestStatus>;

export const resourcePoolStatusRequest = kind(
  { group: 'resource', version: 'v1alpha3', kind: 'ResourcePoolStatusRequest', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, resourcePoolStatusRequestSpec),
    status: pointer(3, resourcePoolStatusRequestStatus),
  },
  { doc: 'Asks how many devices of pools are free; answered once.' },
);
export type ResourcePoolStatusRequest = Infer<typeof resourcePoolStatusRequest>;

export const resourcePoolStatusRequestList = listKind(resourcePoolStatusRequest);
export type ResourcePoolStatusRequestList = Infer<typeof resourcePoolStatusRequestList>;
