import { groupName } from '../../../base/machinery/vendor.js';
import { type ClusterRole, clusterRole, type Role, role } from '../../../objects/apis/rbac/v1/role.types.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { type EscalationContext, EscalationGuard } from '../escalation/escalation-guard.js';
import { pathSegmentName } from '../path-segment-name.js';
import { validateClusterRole, validateRole } from './role.validation.js';

/** `roles`: permissions within one namespace. */
export function roleResource(context: EscalationContext): ResourceDefinition {
  const guard = new EscalationGuard(context);
  return defineResource<Role>({
    group: groupName('rbac', context.names),
    resource: 'roles',
    singular: 'role',
    kind: 'Role',
    namespaced: true,
    versions: [{ version: 'v1', type: role }],
    strategyOptions: { allowCreateOnUpdate: true },
    strategy: {
      validateName: pathSegmentName,
      authorizeWrite: (request, object, old) => guard.authorizeRole(request, 'roles', object, old),
      validate: (_context, object) => validateRole(object),
      validateUpdate: (_context, object) => validateRole(object),
    },
  });
}

/** `clusterroles`: permissions in all namespaces, on cluster-wide resources and on URLs. */
export function clusterRoleResource(context: EscalationContext): ResourceDefinition {
  const guard = new EscalationGuard(context);
  return defineResource<ClusterRole>({
    group: groupName('rbac', context.names),
    resource: 'clusterroles',
    singular: 'clusterrole',
    kind: 'ClusterRole',
    namespaced: false,
    versions: [{ version: 'v1', type: clusterRole }],
    strategyOptions: { allowCreateOnUpdate: true },
    strategy: {
      validateName: pathSegmentName,
      authorizeWrite: (request, object, old) => guard.authorizeRole(request, 'clusterroles', object, old),
      validate: (_context, object) => validateClusterRole(object),
      validateUpdate: (_context, object) => validateClusterRole(object),
    },
  });
}
