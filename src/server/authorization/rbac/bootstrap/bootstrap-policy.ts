import { privilegedGroup } from '../../../../base/machinery/authorizer.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import { aggregatedRules } from '../../../../objects/apis/rbac/rules/aggregate-rules.js';
import type { ClusterRole, Role } from '../../../../objects/apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../../../objects/apis/rbac/v1/role-binding.types.js';
import { clusterRoles as clusterRoleData } from './cluster-roles.js';
import { controllerRules } from './controller-rules.js';
import { namespacedRoles } from './namespaced-roles.js';
import { type RoleData, ruleOf } from './role-data.js';

/** The objects of the default policy. */
export interface BootstrapPolicy {
  readonly clusterRoles: readonly ClusterRole[];
  readonly clusterRoleBindings: readonly ClusterRoleBinding[];
  readonly roles: readonly Role[];
  readonly roleBindings: readonly RoleBinding[];
}

/** The subjects of component roles, by role: `user <name>`, `group <name>` or `account <name>`. */
const componentSubjects: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': [`group ${privilegedGroup}`],
  'system:basic-user': ['group system:authenticated'],
  'system:cluster-trust-bundle-discovery': ['group system:serviceaccounts'],
  'system:discovery': ['group system:authenticated'],
  'system:public-info-viewer': ['group system:authenticated', 'group system:unauthenticated'],
  'system:service-account-issuer-discovery': ['group system:serviceaccounts'],
  'system:monitoring': ['group system:monitoring'],
  'system:kube-controller-manager': ['user system:kube-controller-manager'],
  'system:kube-scheduler': ['user system:kube-scheduler'],
  'system:volume-scheduler': ['user system:kube-scheduler'],
  'system:kube-dns': ['account kube-dns'],
  // Agents are authorized by the mode `Node`. Administrators who do not use it can add subjects to the binding.
  'system:node': [],
  'system:node-proxier': ['user system:kube-proxy'],
};

/** Name of the annotation that, with the value `false`, disables updates of an object of the policy. */
export function autoUpdateAnnotation(names: VendorNames): string {
  return `rbac.authorization.${names.labelPrefix}/autoupdate`;
}

/** Makes the default policy with the names of the vendor. */
export function bootstrapPolicy(names: VendorNames): BootstrapPolicy {
  const maker = new PolicyMaker(names);
  const controllers = [...controllerRules(names)].map(([account, rules]) => ({
    account,
    role: { name: `system:controller:${account}`, rules },
  }));
  const clusterRoles = [
    ...clusterRoleData(names).map((data) => maker.clusterRole(data)),
    ...controllers.map(({ role }) => maker.clusterRole(role)),
  ];
  fillAggregated(clusterRoles);
  const roles = namespacedRoles(names);
  return {
    clusterRoles,
    clusterRoleBindings: [
      ...Object.entries(componentSubjects).map(([role, subjects]) => maker.clusterRoleBinding(role, subjects)),
      ...controllers.map(({ account, role }) => maker.clusterRoleBinding(role.name, [`account ${account}`])),
    ],
    roles: roles.map((data) => maker.role(data, data.namespace)),
    roleBindings: roles.map((data) =>
      maker.roleBinding(data.bindingName ?? data.name, data.namespace, data.name, data.subjects),
    ),
  };
}

/** Fills the aggregated roles of a new cluster right away; later a controller does so. */
function fillAggregated(roles: ClusterRole[]): void {
  // Aggregated roles include each other, so they must be filled in this order.
  const collecting = ['view', 'edit', 'admin'].map((name) => roles.find(({ metadata }) => metadata.name === name));
  for (const role of collecting) if (role !== undefined) role.rules = aggregatedRules(role, roles) ?? null;
}

class PolicyMaker {
  private readonly group: string;

  constructor(private readonly names: VendorNames) {
    this.group = groupName('rbac', names);
  }

  clusterRole(data: RoleData): ClusterRole {
    const { metadata, rules } = this.role(data);
    const label = data.aggregatesTo;
    if (label !== undefined) metadata.labels = { ...metadata.labels, [this.aggregateLabel(label)]: 'true' };
    const role: ClusterRole = { metadata, rules };
    if (data.collects !== undefined) {
      const matchLabels = { [this.aggregateLabel(data.collects)]: 'true' };
      role.aggregationRule = { clusterRoleSelectors: [{ matchLabels }] };
    }
    return role;
  }

  role({ name, rules }: RoleData, namespace?: string): Role {
    return { metadata: this.metadata(name, namespace), rules: rules.map((rule) => ruleOf(rule, this.names)) };
  }

  clusterRoleBinding(role: string, subjects: readonly string[]): ClusterRoleBinding {
    return this.binding(role, undefined, 'ClusterRole', role, subjects);
  }

  roleBinding(name: string, namespace: string, role: string, subjects: readonly string[]): RoleBinding {
    return this.binding(name, namespace, 'Role', role, subjects);
  }

  private binding(
    name: string,
    namespace: string | undefined,
    kind: string,
    role: string,
    subjects: readonly string[],
  ): RoleBinding {
    return {
      metadata: this.metadata(name, namespace),
      subjects: subjects.map((subject) => this.subject(subject)),
      roleRef: { apiGroup: this.group, kind, name: role },
    };
  }

  private subject(text: string): Subject {
    const space = text.indexOf(' ');
    const name = text.slice(space + 1);
    switch (text.slice(0, space)) {
      case 'user':
        return { kind: 'User', apiGroup: this.group, name };
      case 'group':
        return { kind: 'Group', apiGroup: this.group, name };
      default:
        return { kind: 'ServiceAccount', name, namespace: this.names.systemNamespace };
    }
  }

  private metadata(name: string, namespace?: string): Role['metadata'] {
    return {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [`${this.names.labelPrefix}/bootstrapping`]: 'rbac-defaults' },
      annotations: { [autoUpdateAnnotation(this.names)]: 'true' },
    } as Role['metadata'];
  }

  private aggregateLabel(name: string): string {
    return `${this.group}/aggregate-to-${name}`;
  }
}
