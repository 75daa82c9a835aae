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
} from '../../../../base/machinery/schema/index.js';

export const ownerReference = struct(
  'meta.v1.OwnerReference',
  {
    apiVersion: required(5, string, { doc: "Version that the owner's kind is named in." }),
    kind: required(1, string, { doc: 'Kind of the owner.' }),
    name: required(3, string, { doc: 'Name of the owner.' }),
    uid: required(4, string, { doc: 'Identity of the owner.' }),
    controller: pointer(6, bool, { doc: 'Whether the owner manages this object; at most one does.' }),
    blockOwnerDeletion: pointer(7, bool, { doc: 'Whether a foreground delete of the owner waits for this object.' }),
  },
  { mapType: 'atomic', doc: 'Points from an object to one that it belongs to.' },
);
export type OwnerReference = Infer<typeof ownerReference>;

export const managedFieldsOperationType = enumOf('Apply', 'Update');
export type ManagedFieldsOperationType = Infer<typeof managedFieldsOperationType>;

export const managedFieldsEntry = struct(
  'meta.v1.ManagedFieldsEntry',
  {
    manager: optional(1, string, { doc: 'Name of the writer.' }),
    operation: optional(2, managedFieldsOperationType, { doc: 'Apply or Update.' }),
    apiVersion: optional(3, string, { doc: 'Version that the fields are named in.' }),
    time: pointer(4, time, { doc: 'When the entry last changed.' }),
    fieldsType: optional(6, string, { doc: 'Form of the field set; always FieldsV1.' }),
    fieldsV1: pointer(7, fieldsV1, { doc: 'The owned fields as a tree.' }),
    subresource: optional(8, string, { doc: 'The subresource that was written through.' }),
  },
  { doc: 'The fields that one writer owns.' },
);
export type ManagedFieldsEntry = Infer<typeof managedFieldsEntry>;

export const objectMeta = struct(
  'meta.v1.ObjectMeta',
  {
    name: optional(1, string, { doc: "Unique among objects of the kind in its namespace. Can't be changed." }),
    generateName: optional(2, string, { doc: 'Beginning of a name that the server completes when none is given.' }),
    namespace: optional(3, string, {
      doc: 'The namespace that the object is in; empty for objects of the whole cluster.',
    }),
    selfLink: optional(4, string, { doc: 'No longer filled in.' }),
    uid: optional(5, string, { doc: 'Identity of this object, never used again.' }),
    resourceVersion: optional(6, string, {
      doc: 'Changes with every write. Sent back, it guards against overwriting the changes of others.',
    }),
    generation: optional(7, int64, { doc: 'Counts changes of what is wanted.' }),
    creationTimestamp: optional(8, time, {
      doc: 'CreationTimestamp is a timestamp of the moment at which the server created the object.',
    }),
    deletionTimestamp: pointer(9, time, { doc: 'When the object will be, or could first be, gone. Set by a delete.' }),
    deletionGracePeriodSeconds: pointer(10, int64, { doc: 'How long the object has to end by itself, in seconds.' }),
    labels: optional(11, map(string), { doc: 'Short texts to choose objects by.' }),
    annotations: optional(12, map(string), { doc: 'Free texts of tools; nothing is chosen by them.' }),
    ownerReferences: optional(13, list(ownerReference), {
      ...mergedBy('uid'),
      doc: 'Objects that this one belongs to; it goes when all of them are gone.',
    }),
    finalizers: optional(14, list(string), {
      listType: 'set',
      patch: { strategy: 'merge' },
      doc: 'Work to be done before the object may go; each entry is removed by whoever did it.',
    }),
    managedFields: optional(17, list(managedFieldsEntry), { doc: 'Which writer owns which fields.' }),
  },
  { doc: 'What every object has: its name, its labels and how it came to be.' },
);
export type ObjectMeta = Infer<typeof objectMeta>;

export const partialObjectMetadata = kind(
  { group: '', version: 'v1', kind: 'PartialObjectMetadata' },
  {
    metadata: always(1, objectMeta),
  },
  { name: 'meta.v1.PartialObjectMetadata', doc: 'The metadata of any object, without the rest.' },
);
export type PartialObjectMetadata = Infer<typeof partialObjectMetadata>;

export const shardInfo = struct('meta.v1.ShardInfo', {
  selector: required(1, string),
});
export type ShardInfo = Infer<typeof shardInfo>;

export const listMeta = struct(
  'meta.v1.ListMeta',
  {
    selfLink: optional(1, string, { doc: 'No longer filled in.' }),
    resourceVersion: optional(2, string, { doc: 'The state that the list shows; a watch may start from it.' }),
    continue: optional(3, string, { doc: 'Token for the next page; empty on the last one.' }),
    remainingItemCount: pointer(4, int64, { doc: 'How many items follow on later pages, where known.' }),
    shardInfo: pointer(5, shardInfo),
  },
  { doc: 'What a list is a state of, and how to go on reading.' },
);
export type ListMeta = Infer<typeof listMeta>;
