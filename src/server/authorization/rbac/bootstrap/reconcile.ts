import { deepEqual } from '../../../../base/machinery/patch/json-value.js';
import { compactPermissions } from '../../../../objects/apis/rbac/rules/format-permissions.js';
import { uncoveredPermissions } from '../../../../objects/apis/rbac/rules/rule-cover.js';
import type { ClusterRole, PolicyRule, Role } from '../../../../objects/apis/rbac/v1/role.types.js';
import type { ClusterRoleBinding, RoleBinding, Subject } from '../../../../objects/apis/rbac/v1/role-binding.types.js';

type AnyRole = Role | ClusterRole;
type AnyBinding = RoleBinding | ClusterRoleBinding;

/** Whether the object opted out of automatic updates. */
export function isOptedOut({ metadata }: AnyRole | AnyBinding, annotation: string): boolean {
  return metadata.annotations?.[annotation] === 'false';
}

/**
 * The live role, completed with missing rules, selectors, labels and annotations of the default role. Additional parts
 * stay. Returns the same object when nothing is missing.
 */
export function reconciledRole<T extends AnyRole>(live: T, wanted: AnyRole): T {
  const metadata = withMetadata(live.metadata, wanted.metadata);
  const selectors = (wanted as ClusterRole).aggregationRule?.clusterRoleSelectors;
  if (selectors !== undefined) {
    const present = (live as ClusterRole).aggregationRule?.clusterRoleSelectors ?? [];
    const missing = selectors.filter((selector) => !present.some((one) => deepEqual(one, selector)));
    if (missing.length === 0) return metadata === live.metadata ? live : { ...live, metadata };
    return { ...live, metadata, aggregationRule: { clusterRoleSelectors: [...present, ...missing] } };
  }
  const missing = compactPermissions(uncoveredPermissions(live.rules ?? [], wanted.rules ?? [])).map(ruleFrom);
  if (missing.length === 0) return metadata === live.metadata ? live : { ...live, metadata };
  return { ...live, metadata, rules: [...(live.rules ?? []), ...missing] };
}

/**
 * The live binding, completed with missing subjects, labels and annotations. Returns the same object when nothing is
 * missing.
 */
export function reconciledBinding<T extends AnyBinding>(live: T, wanted: AnyBinding): T {
  const metadata = withMetadata(live.metadata, wanted.metadata);
  const present = live.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter((subject) => !present.some((one) => sameSubject(one, subject)));
  if (missing.length > 0) return { ...live, metadata, subjects: [...present, ...missing] };
  return metadata === live.metadata ? live : { ...live, metadata };
}

/** Whether the binding refers to another role; in that case it must be deleted and created again. */
export function bindsAnotherRole(live: AnyBinding, wanted: AnyBinding): boolean {
  return !deepEqual(live.roleRef, wanted.roleRef);
}

function sameSubject(a: Subject, b: Subject): boolean {
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    (a.apiGroup ?? '') === (b.apiGroup ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '')
  );
}

type Metadata = AnyRole['metadata'];

/** Adds missing labels and annotations; changed values stay. */
function withMetadata(live: Metadata, wanted: Metadata): Metadata {
  const labels = missingEntries(live.labels, wanted.labels);
  const annotations = missingEntries(live.annotations, wanted.annotations);
  if (labels === undefined && annotations === undefined) return live;
  return {
    ...live,
    ...(labels === undefined ? {} : { labels: { ...live.labels, ...labels } }),
    ...(annotations === undefined ? {} : { annotations: { ...live.annotations, ...annotations } }),
  };
}

function missingEntries(
  live: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  const missing = Object.entries(wanted ?? {}).filter(([key]) => live === undefined || !Object.hasOwn(live, key));
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

function ruleFrom(permission: ReturnType<typeof compactPermissions>[number]): PolicyRule {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = permission;
  const rule: PolicyRule = { verbs: [...(verbs ?? [])] };
  if (nonResourceURLs.length > 0) return { ...rule, nonResourceURLs: [...nonResourceURLs] };
  rule.apiGroups = [...apiGroups];
  rule.resources = [...resources];
  if (resourceNames.length > 0) rule.resourceNames = [...resourceNames];
  return rule;
}
