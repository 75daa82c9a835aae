import {
  always,
  bool,
  type Infer,
  kind,
  list,
  optional,
  required,
  string,
  struct,
  wrappedList,
} from '../../../../base/machinery/schema/index.js';

export const groupVersionForDiscovery = struct('meta.v1.GroupVersionForDiscovery', {
  groupVersion: required(1, string),
  version: required(2, string),
});
export type GroupVersionForDiscovery = Infer<typeof groupVersionForDiscovery>;

export const serverAddressByClientCIDR = struct('meta.v1.ServerAddressByClientCIDR', {
  clientCIDR: required(1, string),
  serverAddress: required(2, string),
});
export type ServerAddressByClientCIDR = Infer<typeof serverAddressByClientCIDR>;

export const apiGroup = kind(
  { group: '', version: 'v1', kind: 'APIGroup' },
  {
    name: required(1, string),
    versions: required(2, list(groupVersionForDiscovery)),
    preferredVersion: always(3, groupVersionForDiscovery),
    serverAddressByClientCIDRs: optional(4, list(serverAddressByClientCIDR)),
  },
  { name: 'meta.v1.APIGroup', doc: 'A group of the API and its versions.' },
);
export type APIGroup = Infer<typeof apiGroup>;

export const apiGroupList = kind(
  { group: '', version: 'v1', kind: 'APIGroupList' },
  {
    groups: required(1, list(apiGroup)),
  },
  { name: 'meta.v1.APIGroupList', doc: 'The groups of the API.' },
);
export type APIGroupList = Infer<typeof apiGroupList>;

export const verbs = wrappedList('meta.v1.Verbs', string);
export type Verbs = Infer<typeof verbs>;

export const apiResource = struct('meta.v1.APIResource', {
  name: required(1, string),
  singularName: required(6, string),
  namespaced: required(2, bool),
  group: optional(8, string),
  version: optional(9, string),
  kind: required(3, string),
  verbs: required(4, verbs, { doc: 'Actions; * for all.' }),
  shortNames: optional(5, list(string)),
  categories: optional(7, list(string)),
  storageVersionHash: optional(10, string),
});
export type APIResource = Infer<typeof apiResource>;

export const apiResourceList = kind(
  { group: '', version: 'v1', kind: 'APIResourceList' },
  {
    groupVersion: required(1, string),
    resources: required(2, list(apiResource)),
  },
  { name: 'meta.v1.APIResourceList', doc: 'The resources of a group version.' },
);
export type APIResourceList = Infer<typeof apiResourceList>;

export const apiVersions = kind(
  { group: '', version: 'v1', kind: 'APIVersions' },
  {
    versions: required(1, list(string)),
    serverAddressByClientCIDRs: required(2, list(serverAddressByClientCIDR)),
  },
  { name: 'meta.v1.APIVersions', doc: 'Versions of the core group.' },
);
export type APIVersions = Infer<typeof apiVersions>;

export const rootPaths = struct('meta.v1.RootPaths', {
  paths: required(1, list(string)),
});
export type RootPaths = Infer<typeof rootPaths>;
