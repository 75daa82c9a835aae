import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  NonResourceRule,
  ResourceRule,
  RuleList,
  RuleResolver,
} from '../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { pathPrefix } from '../../../objects/apis/rbac/rules/path-pattern.js';
import type { AbacPolicy } from './policy-file.js';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: 'No policy matched.' });
const readVerbs: readonly string[] = ['get', 'list', 'watch'];
const allVerbs: readonly string[] = ['*'];
/** The verbs that an ordinary line shows in rules, without those for granting rights and for impersonation. */
const ordinaryVerbs: readonly string[] = [...readVerbs, 'create', 'update', 'patch', 'delete', 'deletecollection'];
/** Verbs on these resources include `escalate` and `bind`, which a line for the resource alone must not allow. */
const guardedResources: readonly string[] = ['roles', 'clusterroles'];
/** Verbs for impersonation, and for approving and signing other users' certificates. */
const namedVerbs: readonly string[] = ['impersonate', 'approve', 'sign'];
const everything = '*';

/**
 * Mode `ABAC` (specification 5.4): a request is allowed when one line of the policy file matches it. Policies are
 * grouped by subject, so the cost of a decision depends only on the lines about the user and its groups.
 */
export class AbacAuthorizer implements Authorizer, RuleResolver {
  private readonly byUser = new Map<string, AbacPolicy[]>();
  /** Policies that name no user. A policy that names neither user nor group matches nobody. */
  private readonly byGroup = new Map<string, AbacPolicy[]>();

  constructor(policies: readonly AbacPolicy[]) {
    for (const policy of policies) {
      if (policy.user !== '') add(this.byUser, policy.user, policy);
      else if (policy.group !== '') add(this.byGroup, policy.group, policy);
    }
  }

  authorize(attributes: AuthorizerAttributes): AuthorizationDecision {
    for (const policy of this.policiesOf(attributes.user)) if (matches(policy, attributes)) return allow;
    return noOpinion;
  }

  rulesFor(user: UserInfo, namespace: string): RuleList {
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    for (const policy of this.policiesOf(user)) {
      if (isHeld(policy, namespace)) {
        const { apiGroup, resource } = policy;
        resourceRules.push({ verbs: verbsOf(policy), apiGroups: [apiGroup], resources: [resource], resourceNames: [] });
      }
      const verbs = policy.readonly ? readVerbs : allVerbs;
      if (policy.nonResourcePath !== '') nonResourceRules.push({ verbs, nonResourceURLs: [policy.nonResourcePath] });
    }
    return { resourceRules, nonResourceRules, incomplete: false, evaluationError: '' };
  }

  private *policiesOf(user: UserInfo): Generator<AbacPolicy> {
    for (const policy of this.byUser.get(user.name) ?? []) {
      if (policy.group === '' || user.groups.includes(policy.group)) yield policy;
    }
    for (const group of new Set(user.groups)) yield* this.byGroup.get(group) ?? [];
  }
}

function add(map: Map<string, AbacPolicy[]>, key: string, policy: AbacPolicy): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [policy]);
  else list.push(policy);
}

function matches(policy: AbacPolicy, attributes: AuthorizerAttributes): boolean {
  if (!allowsVerb(policy, attributes.verb)) return false;
  return attributes.isResourceRequest ? matchesResource(policy, attributes) : matchesPath(policy, attributes.path);
}

function matchesResource(policy: AbacPolicy, { namespace, resource, apiGroup }: AuthorizerAttributes): boolean {
  return (
    isMatch(policy.namespace, namespace) && isMatch(policy.resource, resource) && isMatch(policy.apiGroup, apiGroup)
  );
}

/**
 * Whether a line is listed as a rule for the namespace `asked`, or for all namespaces if `asked` is empty. A line
 * without a namespace applies to requests without one, so it is not a rule for all namespaces. No line applies to a
 * subresource alone.
 */
function isHeld({ namespace, resource }: AbacPolicy, asked: string): boolean {
  if (resource === '' || resource.includes('/')) return false;
  return namespace === everything || (asked !== '' && namespace === asked);
}

function verbsOf(policy: AbacPolicy): readonly string[] {
  if (policy.readonly) return readVerbs;
  const isExact = policy.resource !== everything && !guardedResources.includes(policy.resource);
  return isExact || isAboutEverything(policy) ? allVerbs : ordinaryVerbs;
}

/**
 * Lines have no verbs. Granting rights that one does not have, impersonation, and approving other users' certificates
 * would each circumvent all other lines. So only lines about everything allow all of these actions; lines that name the
 * resource allow all but granting.
 */
function allowsVerb(policy: AbacPolicy, verb: string): boolean {
  if (policy.readonly) return readVerbs.includes(verb);
  if (verb === 'escalate' || verb === 'bind') return isAboutEverything(policy);
  // `impersonate:<mode>` and `impersonate-on:<mode>:<verb>` count as impersonation too.
  if (namedVerbs.includes(verb) || /^impersonate(?:-on)?:/.test(verb))
    return policy.resource !== everything || isAboutEverything(policy);
  return true;
}

function isAboutEverything({ namespace, resource, apiGroup }: AbacPolicy): boolean {
  return namespace === everything && resource === everything && apiGroup === everything;
}

function isMatch(pattern: string, value: string): boolean {
  return pattern === everything || pattern === value;
}

function matchesPath({ nonResourcePath }: AbacPolicy, path: string): boolean {
  if (nonResourcePath === '*' || nonResourcePath === path) return true;
  return nonResourcePath.endsWith('*') && path.startsWith(pathPrefix(nonResourcePath));
}
