import {
  always,
  enumOf,
  type Infer,
  keyedBy,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { groupVersionKind } from '../../meta/v1/group-version.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const resourceScope = enumOf('Cluster', 'Namespaced');
export type ResourceScope = Infer<typeof resourceScope>;

export const apiSubresourceDiscovery = struct('apidiscovery.v2.APISubresourceDiscovery', {
  subresource: required(1, string),
  responseKind: pointer(2, groupVersionKind),
  acceptedTypes: optional(3, list(groupVersionKind), keyedBy('group', 'version', 'kind')),
  verbs: required(4, list(string), { listType: 'set', doc: 'Actions; * for all.' }),
});
export type APISubresourceDiscovery = Infer<typeof apiSubresourceDiscovery>;

export const apiResourceDiscovery = struct('apidiscovery.v2.APIResourceDiscovery', {
  resource: required(1, string),
  responseKind: pointer(2, groupVersionKind),
  scope: required(3, resourceScope),
  singularResource: required(4, string),
  verbs: required(5, list(string), { listType: 'set', doc: 'Actions; * for all.' }),
  shortNames: optional(6, list(string), { listType: 'set' }),
  categories: optional(7, list(string), { listType: 'set' }),
  subresources: optional(8, list(apiSubresourceDiscovery), keyedBy('subresource')),
});
export type APIResourceDiscovery = Infer<typeof apiResourceDiscovery>;

export const discoveryFreshness = enumOf('Current', 'Stale');
export type DiscoveryFreshness = Infer<typeof discoveryFreshness>;

export const apiVersionDiscovery = struct('apidiscovery.v2.APIVersionDiscovery', {
  version: required(1, string),
  resources: optional(2, list(apiResourceDiscovery), keyedBy('resource')),
  freshness: optional(3, discoveryFreshness),
});
export type APIVersionDiscovery = Infer<typeof apiVersionDiscovery>;

export const apiGroupDiscovery = kind(
  { group: 'apidiscovery', version: 'v2', kind: 'APIGroupDiscovery' },
  {
    metadata: always(1, objectMeta),
    versions: optional(2, list(apiVersionDiscovery), keyedBy('version')),
  },
  { doc: 'Everything that a group serves.' },
);
export type APIGroupDiscovery = Infer<typeof apiGroupDiscovery>;

export const apiGroupDiscoveryList = listKind(apiGroupDiscovery);
export type APIGroupDiscoveryList = Infer<typeof apiGroupDiscoveryList>;
