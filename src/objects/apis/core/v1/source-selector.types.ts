import {
  always,
  bool,
  type Infer,
  inline,
  int32,
  int64,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { localObjectReference } from './reference.types.js';

export const keyToPath = struct('core.v1.KeyToPath', {
  key: required(1, string, { doc: 'Name of the entry.' }),
  path: required(2, string, { doc: 'Path of the file.' }),
  mode: pointer(3, int32, { doc: 'Permission bits of the file.' }),
  user: pointer(4, int64, { dropped: true, doc: 'User that the file belongs to.' }),
});
export type KeyToPath = Infer<typeof keyToPath>;

export const objectFieldSelector = struct(
  'core.v1.ObjectFieldSelector',
  {
    apiVersion: optional(1, string),
    fieldPath: required(2, string),
  },
  { mapType: 'atomic' },
);
export type ObjectFieldSelector = Infer<typeof objectFieldSelector>;

export const resourceFieldSelector = struct(
  'core.v1.ResourceFieldSelector',
  {
    containerName: optional(1, string),
    resource: required(2, string),
    divisor: always(3, quantity),
  },
  { mapType: 'atomic' },
);
export type ResourceFieldSelector = Infer<typeof resourceFieldSelector>;

export const configMapKeySelector = struct(
  'core.v1.ConfigMapKeySelector',
  {
    localObjectReference: inline(1, localObjectReference),
    key: required(2, string),
    optional: pointer(3, bool, { doc: 'Whether it may be missing.' }),
  },
  { mapType: 'atomic' },
);
export type ConfigMapKeySelector = Infer<typeof configMapKeySelector>;

export const secretKeySelector = struct(
  'core.v1.SecretKeySelector',
  {
    localObjectReference: inline(1, localObjectReference),
    key: required(2, string),
    optional: pointer(3, bool, { doc: 'Whether it may be missing.' }),
  },
  { mapType: 'atomic' },
);
export type SecretKeySelector = Infer<typeof secretKeySelector>;

export const fileKeySelector = struct(
  'core.v1.FileKeySelector',
  {
    volumeName: required(1, string),
    path: required(2, string),
    key: required(3, string),
    optional: pointer(4, bool, { default: false, doc: 'Whether it may be missing.' }),
  },
  { mapType: 'atomic' },
);
export type FileKeySelector = Infer<typeof fileKeySelector>;
