import type { RequestInfo, UserInfo } from '../../base/machinery/request-context.js';

/** How much of a request is recorded, from nothing to everything. */
export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];

/** The stages of a request at which events are recorded. */
export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

/** Resources of one API group. */
export interface GroupResources {
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` followed by `/status`, or `*`; empty for all resources of the group. */
  readonly resources: readonly string[];
  /** Names of objects; empty for all. */
  readonly resourceNames: readonly string[];
}

/** One rule; an empty list does not restrict it. */
export interface AuditPolicyRule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  /** The empty string stands for cluster-scoped resources and non-resource paths. */
  readonly namespaces: readonly string[];
  /** Paths; a trailing `*` matches any rest. */
  readonly nonResourceURLs: readonly string[];
  /** Includes the stages that the whole policy omits. */
  readonly omitStages: ReadonlySet<AuditStage>;
  readonly omitManagedFields: boolean;
}

/** The attributes by which a rule is chosen. */
export interface AuditSubject {
  /** Unset when the sender could not be authenticated. */
  readonly user: UserInfo | undefined;
  readonly requestInfo: RequestInfo;
}

/** The rules of a policy (specification 6.2). The first one that matches decides. */
export class AuditPolicy {
  constructor(readonly rules: readonly AuditPolicyRule[]) {}

  /** The rule for a request; undefined if none matches, or if the matching rule has the level `None`. */
  ruleFor(subject: AuditSubject): AuditPolicyRule | undefined {
    for (const rule of this.rules) {
      if (matches(rule, subject)) return rule.level === 'None' ? undefined : rule;
    }
    return undefined;
  }
}

function matches(rule: AuditPolicyRule, { user, requestInfo }: AuditSubject): boolean {
  const { users, userGroups, verbs, namespaces, resources, nonResourceURLs } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && !(user?.groups.some((group) => userGroups.includes(group)) ?? false)) return false;
  if (verbs.length > 0 && !verbs.includes(requestInfo.verb)) return false;
  if (namespaces.length > 0 || resources.length > 0) return matchesResource(rule, requestInfo);
  return nonResourceURLs.length === 0 || matchesPath(nonResourceURLs, requestInfo);
}

function matchesPath(patterns: readonly string[], { isResourceRequest, path }: RequestInfo): boolean {
  if (isResourceRequest) return false;
  return patterns.some((pattern) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern));
}

function matchesResource({ namespaces, resources }: AuditPolicyRule, info: RequestInfo): boolean {
  if (!info.isResourceRequest) return false;
  if (namespaces.length > 0 && !namespaces.includes(info.namespace)) return false;
  return resources.length === 0 || resources.some((entry) => matchesEntry(entry, info));
}

function matchesEntry(entry: GroupResources, { apiGroup, resource, subresource, name }: RequestInfo): boolean {
  if (entry.group !== apiGroup) return false;
  if (entry.resources.length === 0) return true;
  if (entry.resourceNames.length > 0 && !entry.resourceNames.includes(name)) return false;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return entry.resources.some((pattern) => {
    if (pattern === whole || pattern === '*') return true;
    if (subresource !== '' && pattern.startsWith('*/')) return pattern.slice(2) === subresource;
    return pattern.endsWith('/*') && pattern.slice(0, -2) === resource;
  });
}
