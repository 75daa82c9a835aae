import type { Authorizer } from '../../src/base/machinery/authorizer.js';
import { groupName, type VendorNames } from '../../src/base/machinery/vendor.js';
import { PrivilegedGroupAuthorizer } from '../../src/server/authorization/privileged-group.authorizer.js';
import { bootstrapPolicy } from '../../src/server/authorization/rbac/bootstrap/bootstrap-policy.js';
import { PolicyIndex } from '../../src/server/authorization/rbac/policy-index.js';
import { RbacAuthorizer } from '../../src/server/authorization/rbac/rbac.authorizer.js';

/**
 * Gives everybody the rights of the default policy, and no others, so that a loop that passes its tests has all the
 * rights that it needs.
 */
export function bootstrapRights(names: VendorNames): Authorizer {
  const index = new PolicyIndex();
  const policy = bootstrapPolicy(names);
  for (const role of policy.clusterRoles) index.setRole(role, 'ClusterRole');
  for (const role of policy.roles) index.setRole(role, 'Role');
  for (const binding of [...policy.clusterRoleBindings, ...policy.roleBindings]) index.setBinding(binding);
  const rbac = new RbacAuthorizer(index, groupName('rbac', names));
  const privileged = new PrivilegedGroupAuthorizer();
  return {
    authorize: (attributes) => {
      const first = privileged.authorize(attributes);
      return first.decision === 'allow' ? first : rbac.authorize(attributes);
    },
  };
}
