import {
  always,
  enumOf,
  type Infer,
  int32,
  intOrString,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { protocol } from '../../core/v1/container.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const networkPolicyPort = struct('networking.v1.NetworkPolicyPort', {
  protocol: pointer(1, protocol),
  port: pointer(2, intOrString),
  endPort: pointer(3, int32),
});
export type NetworkPolicyPort = Infer<typeof networkPolicyPort>;

export const ipBlock = struct('networking.v1.IPBlock', {
  cidr: required(1, string),
  except: optional(2, list(string)),
});
export type IPBlock = Infer<typeof ipBlock>;

export const networkPolicyPeer = struct('networking.v1.NetworkPolicyPeer', {
  podSelector: pointer(1, labelSelector, { doc: 'Pods by labels.' }),
  namespaceSelector: pointer(2, labelSelector, { doc: 'Chooses namespaces by their labels.' }),
  ipBlock: pointer(3, ipBlock, { doc: 'A range of addresses.' }),
});
export type NetworkPolicyPeer = Infer<typeof networkPolicyPeer>;

export const networkPolicyIngressRule = struct('networking.v1.NetworkPolicyIngressRule', {
  ports: optional(1, list(networkPolicyPort), { doc: 'Ports; all if empty.' }),
  from: optional(2, list(networkPolicyPeer), { doc: 'Where from; anywhere if empty.' }),
});
export type NetworkPolicyIngressRule = Infer<typeof networkPolicyIngressRule>;

export const networkPolicyEgressRule = struct('networking.v1.NetworkPolicyEgressRule', {
  ports: optional(1, list(networkPolicyPort), { doc: 'Ports; all if empty.' }),
  to: optional(2, list(networkPolicyPeer), { doc: 'Where to; anywhere if empty.' }),
});
export type NetworkPolicyEgressRule = Infer<typeof networkPolicyEgressRule>;

export const policyType = enumOf('Egress', 'Ingress');
export type PolicyType = Infer<typeof policyType>;

export const networkPolicySpec = struct('networking.v1.NetworkPolicySpec', {
  podSelector: always(1, labelSelector, { doc: 'Pods that the policy is about.' }),
  ingress: optional(2, list(networkPolicyIngressRule), { doc: 'Connections that may come in.' }),
  egress: optional(3, list(networkPolicyEgressRule), { doc: 'Connections that may go out.' }),
  policyTypes: optional(4, list(policyType), { doc: 'Ingress, Egress or both.' }),
});
export type NetworkPolicySpec = Infer<typeof networkPolicySpec>;

export const networkPolicy = kind(
  { group: 'networking', version: 'v1', kind: 'NetworkPolicy', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, networkPolicySpec),
  },
  { doc: 'Says which connections pods may have.' },
);
export type NetworkPolicy = Infer<typeof networkPolicy>;

export const networkPolicyList = listKind(networkPolicy);
export type NetworkPolicyList = Infer<typeof networkPolicyList>;
