import {
  always,
  bool,
  enumOf,
  fieldsV1,
  type Infer,
  int64,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../machinery/schema/index.js';

export const ownerReference = struct(
  'meta.v1.OwnerReference',
  {
    apiVersion: required(5, string),
    kind: required(1, string),
    name: required(3, string),
    uid: required(4, string),
    controller: pointer(6, bool),
    blockOwnerDeletion: pointer(7, bool),
  },
  { mapType: 'atomic' },
);
export type OwnerReference = Infer<typeof ownerReference>;

export const managedFieldsOperationType = enumOf('Apply', 'Update');
export type ManagedFieldsOperationType = Infer<typeof managedFieldsOperationType>;

export const managedFieldsEntry = struct('meta.v1.ManagedFieldsEntry', {
  manager: optional(1, string),
  operation: optional(2, managedFieldsOperationType),
  apiVersion: optional(3, string),
  time: pointer(4, time),
  fieldsType: optional(6, string),
  fieldsV1: pointer(7, fieldsV1),
  subresource: optional(8, string),
});
export type ManagedFieldsEntry = Infer<typeof managedFieldsEntry>;

export const objectMeta = struct('meta.v1.ObjectMeta', {
  name: optional(1, string),
  generateName: optional(2, string),
  namespace: optional(3, string),
  selfLink: optional(4, string),
  uid: optional(5, string),
  resourceVersion: optional(6, string),
  generation: optional(7, int64),
  creationTimestamp: always(8, time),
  deletionTimestamp: pointer(9, time),
  deletionGracePeriodSeconds: pointer(10, int64),
  labels: optional(11, map(string)),
  annotations: optional(12, map(string)),
  ownerReferences: optional(13, list(ownerReference), mergedBy('uid')),
  finalizers: optional(14, list(string), { listType: 'set', patch: { strategy: 'merge' } }),
  managedFields: optional(17, list(managedFieldsEntry)),
});
export type ObjectMeta = Infer<typeof objectMeta>;

export const partialObjectMetadata = kind(
  { group: '', version: 'v1', kind: 'PartialObjectMetadata' },
  {
    metadata: always(1, objectMeta),
  },
  { name: 'meta.v1.PartialObjectMetadata' },
);
export type PartialObjectMetadata = Infer<typeof partialObjectMetadata>;

export const shardInfo = struct('meta.v1.ShardInfo', {
  selector: required(1, string),
});
export type ShardInfo = Infer<typeof shardInfo>;

export const listMeta = struct('meta.v1.ListMeta', {
  selfLink: optional(1, string),
  resourceVersion: optional(2, string),
  continue: optional(3, string),
  remainingItemCount: pointer(4, int64),
  shardInfo: pointer(5, shardInfo),
});
export type ListMeta = Infer<typeof listMeta>;
