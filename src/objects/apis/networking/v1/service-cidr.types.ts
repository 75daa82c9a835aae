import {
  always,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const parentReference = struct('networking.v1.ParentReference', {
  group: optional(1, string),
  resource: optional(2, string),
  namespace: optional(3, string),
  name: optional(4, string),
});
export type ParentReference = Infer<typeof parentReference>;

export const ipAddressSpec = struct('networking.v1.IPAddressSpec', {
  parentRef: pointer(1, parentReference, { doc: 'Who uses it.' }),
});
export type IPAddressSpec = Infer<typeof ipAddressSpec>;

export const ipAddress = kind(
  { group: 'networking', version: 'v1', kind: 'IPAddress', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, ipAddressSpec),
  },
  { doc: 'An address that is in use.' },
);
export type IPAddress = Infer<typeof ipAddress>;

export const ipAddressList = listKind(ipAddress);
export type IPAddressList = Infer<typeof ipAddressList>;

export const serviceCIDRSpec = struct('networking.v1.ServiceCIDRSpec', {
  cidrs: optional(1, list(string), { doc: 'Ranges, at most one per family.' }),
});
export type ServiceCIDRSpec = Infer<typeof serviceCIDRSpec>;

export const serviceCIDRStatus = struct('networking.v1.ServiceCIDRStatus', {
  conditions: optional(1, list(condition), { ...mergedBy('type'), doc: 'Aspects of the state, each with its reason.' }),
});
export type ServiceCIDRStatus = Infer<typeof serviceCIDRStatus>;

export const serviceCIDR = kind(
  { group: 'networking', version: 'v1', kind: 'ServiceCIDR', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, serviceCIDRSpec),
    status: always(3, serviceCIDRStatus),
  },
  { doc: 'Addresses that services get theirs from.' },
);
export type ServiceCIDR = Infer<typeof serviceCIDR>;

export const serviceCIDRList = listKind(serviceCIDR);
export type ServiceCIDRList = Infer<typeof serviceCIDRList>;
