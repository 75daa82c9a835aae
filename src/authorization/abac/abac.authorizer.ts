import type {
  AuthorizationDecision,
  Authorizer,
  AuthorizerAttributes,
  NonResourceRule,
  ResourceRule,
  RuleList,
  RuleResolver,
} from '../../machinery/authorizer.js';
import type { UserInfo } from '../../machinery/request-context.js';
import type { AbacPolicy } from './policy-file.js';

const allow: AuthorizationDecision = Object.freeze({ decision: 'allow', reason: '' });
const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: 'No policy matched.' });
const readVerbs: readonly string[] = ['get', 'list', 'watch'];
const allVerbs: readonly string[] = ['*'];

/**
 * Mode `ABAC` (specification 5.4): a request is allowed when one line of the policy file matches it. Policies are
 * arranged by their subject, so a decision costs as much as there are lines about the user and its groups.
 */
export class AbacAuthorizer implements Authorizer, RuleResolver {
  private readonly byUser = new Map<string, AbacPolicy[]>();
  /** Those that name no user. One that names neither user nor group matches nobody. */
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
      const verbs = policy.readonly ? readVerbs : allVerbs;
      if (policy.resource !== '' && isMatch(policy.namespace, namespace)) {
        const { apiGroup, resource } = policy;
        resourceRules.push({ verbs, apiGroups: [apiGroup], resources: [resource], resourceNames: [] });
      }
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
  if (policy.readonly && !readVerbs.includes(attributes.verb)) return false;
  return attributes.isResourceRequest ? matchesResource(policy, attributes) : matchesPath(policy, attributes.path);
}

function matchesResource(policy: AbacPolicy, { namespace, resource, apiGroup }: AuthorizerAttributes): boolean {
  return (
    isMatch(policy.namespace, namespace) && isMatch(policy.resource, resource) && isMatch(policy.apiGroup, apiGroup)
  );
}

function isMatch(pattern: string, value: string): boolean {
  return pattern === '*' || pattern === value;
}

function matchesPath({ nonResourcePath }: AbacPolicy, path: string): boolean {
  if (nonResourcePath === '*' || nonResourcePath === path) return true;
  return nonResourcePath.endsWith('*') && path.startsWith(nonResourcePath.replace(/\*+$/, ''));
}
