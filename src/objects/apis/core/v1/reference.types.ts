import {
  always,
  type Infer,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const objectReference = struct(
  'core.v1.ObjectReference',
  {
    kind: optional(1, string, { doc: 'Kind of the object.' }),
    namespace: optional(2, string, { doc: 'Namespace of the object.' }),
    name: optional(3, string, { doc: 'Name of the object.' }),
    uid: optional(4, string, { doc: 'Identity of the object.' }),
    apiVersion: optional(5, string, { doc: 'Version that the kind is named in.' }),
    resourceVersion: optional(6, string, { doc: 'Version of the object that is meant.' }),
    fieldPath: optional(7, string, { doc: 'Part of the object that is meant.' }),
  },
  { mapType: 'atomic', doc: 'Points to an object.' },
);
export type ObjectReference = Infer<typeof objectReference>;

export const secretReference = struct(
  'core.v1.SecretReference',
  {
    name: optional(1, string),
    namespace: optional(2, string),
  },
  { mapType: 'atomic' },
);
export type SecretReference = Infer<typeof secretReference>;

export const typedLocalObjectReference = struct(
  'core.v1.TypedLocalObjectReference',
  {
    apiGroup: always(1, string, { nullable: true }),
    kind: required(2, string),
    name: required(3, string),
  },
  { mapType: 'atomic' },
);
export type TypedLocalObjectReference = Infer<typeof typedLocalObjectReference>;

export const typedObjectReference = struct('core.v1.TypedObjectReference', {
  apiGroup: always(1, string, { nullable: true }),
  kind: required(2, string),
  name: required(3, string),
  namespace: pointer(4, string),
});
export type TypedObjectReference = Infer<typeof typedObjectReference>;

export const localObjectReference = struct(
  'core.v1.LocalObjectReference',
  {
    name: optional(1, string, { default: '', doc: 'Name of the object.' }),
  },
  { mapType: 'atomic', doc: 'Names an object in the same namespace.' },
);
export type LocalObjectReference = Infer<typeof localObjectReference>;
