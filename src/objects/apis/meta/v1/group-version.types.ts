import { type Infer, required, string, struct } from '../../../../base/machinery/schema/index.js';

export const groupVersion = struct('meta.v1.GroupVersion', {
  group: required(1, string),
  version: required(2, string),
});
export type GroupVersion = Infer<typeof groupVersion>;

export const groupResource = struct('meta.v1.GroupResource', {
  group: required(1, string),
  resource: required(2, string),
});
export type GroupResource = Infer<typeof groupResource>;

export const groupVersionKind = struct('meta.v1.GroupVersionKind', {
  group: required(1, string),
  version: required(2, string),
  kind: required(3, string),
});
export type GroupVersionKind = Infer<typeof groupVersionKind>;

export const groupVersionResource = struct('meta.v1.GroupVersionResource', {
  group: required(1, string),
  version: required(2, string),
  resource: required(3, string),
});
export type GroupVersionResource = Infer<typeof groupVersionResource>;
