import { formatLabelSelector } from '../../../base/machinery/label-selector.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type NetworkPolicy, networkPolicy } from '../../../objects/apis/networking/v1/network-policy.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateNetworkPolicy } from './network-policy.validation.js';

const columns: readonly TableColumn<NetworkPolicy>[] = [
  nameColumn,
  {
    name: 'Pod-Selector',
    type: 'string',
    description: 'Pods that the policy applies to.',
    cell: (object) => formatLabelSelector(object.spec.podSelector) || '<none>',
  },
  ageColumn,
];

/** `networkpolicies`: which traffic pods may receive and send. */
export function networkPolicyResource(names: VendorNames): ResourceDefinition {
  return defineResource<NetworkPolicy>({
    group: groupName('networking', names),
    resource: 'networkpolicies',
    singular: 'networkpolicy',
    kind: 'NetworkPolicy',
    namespaced: true,
    shortNames: ['netpol'],
    versions: [{ version: 'v1', type: networkPolicy }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      applyDefaults: applyNetworkPolicyDefaults,
      validate: (_context, object) => validateNetworkPolicy(object),
      validateUpdate: (_context, object, old) => validateNetworkPolicy(object, old),
    },
    columns,
  });
}

/** A policy applies to ingress, and to egress as well if it has egress rules. Ports use TCP by default. */
function applyNetworkPolicyDefaults({ spec }: NetworkPolicy): void {
  for (const rule of spec.ingress ?? []) for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
  for (const rule of spec.egress ?? []) for (const port of rule.ports ?? []) port.protocol ??= 'TCP';
  if ((spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}
