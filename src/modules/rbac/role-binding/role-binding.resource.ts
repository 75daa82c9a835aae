import { groupName } from '../../../base/machinery/vendor.js';
import {
  type ClusterRoleBinding,
  clusterRoleBinding,
  type RoleBinding,
  roleBinding,
} from '../../../objects/apis/rbac/v1/role-binding.types.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import type { Strategy } from '../../../objects/registry/strategy.js';
import { type EscalationContext, EscalationGuard } from '../escalation/escalation-guard.js';
import { pathSegmentName } from '../path-segment-name.js';
import { bindingColumns } from './role-binding.columns.js';
import { applyBindingDefaults, validateBinding, validateBindingUpdate } from './role-binding.validation.js';

/** `rolebindings`: grants a Role or ClusterRole within one namespace. */
export function roleBindingResource(context: EscalationContext): ResourceDefinition {
  return defineResource<RoleBinding>({
    group: groupName('rbac', context.names),
    resource: 'rolebindings',
    singular: 'rolebinding',
    kind: 'RoleBinding',
    namespaced: true,
    versions: [{ version: 'v1', type: roleBinding }],
    strategyOptions: { allowCreateOnUpdate: true },
    strategy: bindingStrategy(context, 'rolebindings', true),
    columns: bindingColumns,
  });
}

/** `clusterrolebindings`: grants a ClusterRole everywhere. */
export function clusterRoleBindingResource(context: EscalationContext): ResourceDefinition {
  return defineResource<ClusterRoleBinding>({
    group: groupName('rbac', context.names),
    resource: 'clusterrolebindings',
    singular: 'clusterrolebinding',
    kind: 'ClusterRoleBinding',
    namespaced: false,
    versions: [{ version: 'v1', type: clusterRoleBinding }],
    strategyOptions: { allowCreateOnUpdate: true },
    strategy: bindingStrategy(context, 'clusterrolebindings', false),
    columns: bindingColumns,
  });
}

function bindingStrategy(context: EscalationContext, resource: string, isNamespaced: boolean): Strategy<RoleBinding> {
  const guard = new EscalationGuard(context);
  const group = groupName('rbac', context.names);
  return {
    validateName: pathSegmentName,
    authorizeWrite: (request, binding, old) => guard.authorizeBinding(request, resource, binding, old),
    applyDefaults: (binding) => applyBindingDefaults(binding, group),
    validate: (_context, binding) => validateBinding(binding, isNamespaced, group),
    validateUpdate: (_context, binding, old) => validateBindingUpdate(binding, old, isNamespaced, group),
  };
}
