import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ClusterRole, PolicyRule, Role } from '../../../../objects/apis/rbac/v1/role.types.js';
import { allow, change, type RuleData, read, ruleOf } from './role-data.js';

interface RetiredRule {
  /** The rule as a former release wrote it. */
  readonly former: RuleData;
  /** The part of that rule that the role no longer grants. */
  readonly gone: RuleData;
}

const whole = (former: RuleData): RetiredRule => ({ former, gone: former });

/**
 * Anyone who can write endpoints can redirect the traffic of a service to any address, bypassing network policies
 * (CVE-2021-25740).
 */
const endpointsOfEditors: readonly RetiredRule[] = [
  {
    former: allow(
      change,
      'core',
      'configmaps endpoints persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
    ),
    gone: allow(change, 'core', 'endpoints'),
  },
];

/** The rules for leader election with an Endpoints object, which components have replaced by leases. */
const endpointsLock = (component: string): readonly RetiredRule[] => [
  whole(allow('create', 'core', 'endpoints')),
  whole(allow('get update', 'core', 'endpoints', component)),
];
const configMapLock = (component: string): readonly RetiredRule[] => [
  whole(allow('watch', 'core', 'configmaps')),
  whole(allow('get update', 'core', 'configmaps', component)),
];

const retired: Readonly<Record<string, readonly RetiredRule[]>> = {
  admin: endpointsOfEditors,
  edit: endpointsOfEditors,
  'system:aggregate-to-edit': endpointsOfEditors,
  'system:kube-controller-manager': endpointsLock('kube-controller-manager'),
  'system:kube-scheduler': endpointsLock('kube-scheduler'),
  'system::leader-locking-kube-controller-manager': configMapLock('kube-controller-manager'),
  'system::leader-locking-kube-scheduler': configMapLock('kube-scheduler'),
  'system:kubelet-api-admin': [
    {
      former: allow('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats'),
      gone: allow('*', 'core', 'nodes/spec'),
    },
  ],
  'system:controller:expand-controller': [
    whole(allow(read, 'storage', 'storageclasses')),
    whole(allow('get', 'core', 'endpoints services')),
    whole(allow('get', 'core', 'secrets')),
  ],
  'system:controller:horizontal-pod-autoscaler': [
    whole(allow('get', 'core', 'services/proxy', 'http:heapster: https:heapster:')),
  ],
  'system:controller:persistent-volume-binder': [
    whole(allow('create delete get update', 'core', 'endpoints')),
    whole(allow('create delete get', 'core', 'services')),
    whole(allow('get', 'core', 'secrets')),
    { former: allow('get list', 'core', 'nodes'), gone: allow('get', 'core', 'nodes') },
  ],
  'system:controller:statefulset-controller': [
    {
      former: allow('create get list patch update watch', 'core', 'persistentvolumeclaims'),
      gone: allow('patch', 'core', 'persistentvolumeclaims'),
    },
  ],
};

/**
 * The stored role of the default policy without the excess rights that former releases granted. A rule is recognized if
 * it contains a former release's whole rule; values that an administrator added to it stay. Other rules stay unchanged.
 * Returns the same object when there is nothing to remove.
 */
export function withoutRetired<T extends Role | ClusterRole>(live: T, names: VendorNames): T {
  const { name = '' } = live.metadata;
  const entries = Object.hasOwn(retired, name) ? (retired[name] ?? []) : [];
  if (entries.length === 0 || !live.rules) return live;
  let rules: readonly PolicyRule[] = live.rules;
  for (const { former, gone } of entries) {
    const [own, less] = [ruleOf(former, names), ruleOf(gone, names)];
    if (rules.some((rule) => holds(rule, own))) {
      rules = rules.flatMap((rule) => (holds(rule, own) ? withoutRule(rule, less) : [rule]));
    }
  }
  return rules === live.rules ? live : { ...live, rules: [...rules] };
}

function holds(rule: PolicyRule, own: PolicyRule): boolean {
  const has = (list: readonly string[] | null | undefined, all: readonly string[] | null | undefined) =>
    (all ?? []).every((value) => list?.includes(value) === true);
  return (
    has(rule.verbs, own.verbs) &&
    has(rule.apiGroups, own.apiGroups) &&
    has(rule.resources, own.resources) &&
    has(rule.resourceNames, own.resourceNames) &&
    // A rule without resource names is wider than one with them, so they are not the same rule.
    (rule.resourceNames ?? []).length === (own.resourceNames ?? []).length
  );
}

/** The remainder of `rule` after removing a rule that it contains. */
function withoutRule(rule: PolicyRule, gone: PolicyRule): PolicyRule[] {
  const split = (list: readonly string[] | null | undefined, by: readonly string[] | null | undefined) => {
    const isIn = (value: string) => by?.includes(value) === true;
    return [(list ?? []).filter(isIn), (list ?? []).filter((value) => !isIn(value))] as const;
  };
  const [, verbs] = split(rule.verbs, gone.verbs);
  const [, groups] = split(rule.apiGroups, gone.apiGroups);
  const [common, resources] = split(rule.resources, gone.resources);
  const parts: PolicyRule[] = [
    { ...rule, resources },
    { ...rule, resources: common, verbs },
    { ...rule, resources: common, apiGroups: groups, verbs: [...(gone.verbs ?? [])] },
  ];
  return parts.filter((part) => part.verbs?.length && part.apiGroups?.length && part.resources?.length);
}
