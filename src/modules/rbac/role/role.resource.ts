import { type ClusterRole, clusterRole, type Role, role } from '../../../apis/rbac/v1/role.types.js';
import { groupName, type VendorNames } from '../../../machinery/vendor.js';
import { defineResource, type ResourceDefinition } from '../../../registry/resource-definition.js';
import { pathSegmentName } from '../path-segment-name.js';
import { validateClusterRole, validateRole } from './role.validation.js';

/** `roles`: permissions within one namespace. */
export function roleResource(names: VendorNames): ResourceDefinition {
  return defineResource<Role>({
    group: groupName('rbac', names),
    resource: 'roles',
    singular: 'role',
    kind: 'Role',
    namespaced: true,
    versions: [{ version: 'v1', type: role }],
    facts: { allowCreateOnUpdate: true },
    strategy: {
      validateName: pathSegmentName,
      validate: (_context, object) => validateRole(object),
      validateUpdate: (_context, object) => validateRole(object),
    },
  });
}

/** `clusterroles`: permissions in all namespaces, on cluster-wide resources and on URLs. */
export function clusterRoleResource(names: VendorNames): ResourceDefinition {
  return defineResource<ClusterRole>({
    group: groupName('rbac', names),
    resource: 'clusterroles',
    singular: 'clusterrole',
    kind: 'ClusterRole',
    namespaced: false,
    versions: [{ version: 'v1', type: clusterRole }],
    facts: { allowCreateOnUpdate: true },
    strategy: {
      validateName: pathSegmentName,
      validate: (_context, object) => validateClusterRole(object),
      validateUpdate: (_context, object) => validateClusterRole(object),
    },
  });
}
