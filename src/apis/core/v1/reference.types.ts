import { always, type Infer, optional, pointer, required, string, struct } from '../../../machinery/schema/index.js';

export const objectReference = struct(
  'core.v1.ObjectReference',
  {
    kind: optional(1, string),
    namespace: optional(2, string),
    name: optional(3, string),
    uid: optional(4, string),
    apiVersion: optional(5, string),
    resourceVersion: optional(6, string),
    fieldPath: optional(7, string),
  },
  { mapType: 'atomic' },
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
    name: optional(1, string, { default: '' }),
  },
  { mapType: 'atomic' },
);
export type LocalObjectReference = Infer<typeof localObjectReference>;
