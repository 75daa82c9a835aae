import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { certificateRoles } from './certificate-roles.js';
import { componentRoles } from './component-roles.js';
import type { RoleData } from './role-data.js';
import { userRoles } from './user-roles.js';

/**
 * The ClusterRoles of users and of cluster components, by name. Clients and components rely on their names and rules.
 * Component names are the same for every vendor, because component certificates carry them.
 */
export function clusterRoles(names: VendorNames): readonly RoleData[] {
  return [...userRoles, ...componentRoles, ...certificateRoles(names)].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
