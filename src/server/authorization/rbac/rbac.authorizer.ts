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
import { countOf } from './compiled-role.js';
import type { Grant } from './grant.js';
import type { PolicyIndex } from './policy-index.js';
import type { RoleSlot } from './role-slot.js';
import type { ScopeGrants } from './scope-grants.js';

const noOpinion: AuthorizationDecision = Object.freeze({ decision: 'noOpinion', reason: '' });
/** Maximum number of missing roles that a reason names. */
const maxMissingRoles = 20;
/** Limit on the rules and their values listed for one user, since a list is copied and written as a whole. */
const mostListed = 100_000;

/**
 * Mode `RBAC` (specification 5.4): a request is allowed when a role bound to the user allows it. Rules only add
 * permissions: without a matching rule the authorizer has no opinion.
 */
export class RbacAuthorizer implements Authorizer, RuleResolver {
  /** @param group served name of the group, for messages about roles that are bound but don't exist. */
  constructor(
    private readonly index: PolicyIndex,
    private readonly group: string,
  ) {}

  authorize(attributes: AuthorizerAttributes): AuthorizationDecision {
    const { user, namespace, resource, subresource } = attributes;
    const full = subresource === '' ? resource : `${resource}/${subresource}`;
    const wildcard = subresource === '' ? '' : `*/${subresource}`;
    const cluster = this.index.scope('');
    const local = namespace === '' ? undefined : this.index.scope(namespace);
    const found =
      findInScope(cluster, user, attributes, full, wildcard) ?? findInScope(local, user, attributes, full, wildcard);
    if (found !== undefined) return found.decision;
    const missing = this.missingPolicy(user, namespace, cluster, local);
    return missing === '' ? noOpinion : { decision: 'noOpinion', reason: `RBAC: ${missing}` };
  }

  rulesFor(user: UserInfo, namespace: string): RuleList {
    const cluster = this.index.scope('');
    const local = namespace === '' ? undefined : this.index.scope(namespace);
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    const seen = new Set<string>();
    let left = mostListed;
    let isCut = false;
    const take = ({ key, slot }: Grant) => {
      if (seen.has(key)) return;
      seen.add(key);
      // Packed rules are not read in vain.
      if (left === 0) isCut ||= (slot.role?.count ?? 0) > 0;
      if (left === 0) return;
      for (const rule of slot.role?.rules ?? []) {
        const count = countOf(rule);
        if (count > left) {
          isCut = true;
          continue;
        }
        left -= count;
        const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
        if (resources.length > 0) resourceRules.push({ verbs: verbs ?? [], apiGroups, resources, resourceNames });
        if (nonResourceURLs.length > 0) nonResourceRules.push({ verbs: verbs ?? [], nonResourceURLs });
      }
    };
    cluster?.visit(user, take);
    local?.visit(user, take);
    const missing = this.missingPolicy(user, namespace, cluster, local);
    const evaluationError = [missing, isCut ? 'there are too many rules to be listed' : '']
      .filter((text) => text !== '')
      .join('\n');
    return { resourceRules, nonResourceRules, incomplete: isCut, evaluationError };
  }

  /** Why a permission may be missing: roles that do not exist, or that found no room in memory. */
  private missingPolicy(
    user: UserInfo,
    namespace: string,
    cluster: ScopeGrants | undefined,
    local: ScopeGrants | undefined,
  ): string {
    const missing = this.missingRoles(user, cluster, local);
    if (namespace === '' || !this.index.memory.isIncomplete(namespace)) return missing;
    const tooMuch = 'some roles and bindings of the namespace are not in force, as they take too much memory';
    return missing === '' ? tooMuch : `${missing}\n${tooMuch}`;
  }

  /** The roles that are bound to the user but do not exist: this is often why a permission is missing. */
  private missingRoles(user: UserInfo, cluster: ScopeGrants | undefined, local: ScopeGrants | undefined): string {
    let texts: Set<string> | undefined;
    const note = ({ slot }: Grant) => {
      if (slot.role !== undefined) return;
      texts ??= new Set();
      if (texts.size < maxMissingRoles) texts.add(this.missingRole(slot));
    };
    cluster?.visit(user, note);
    local?.visit(user, note);
    if (texts === undefined) return '';
    const found: ReadonlySet<string> = texts;
    const list = [...found].join(', ');
    return found.size === 1 ? list : `[${list}]`;
  }

  private missingRole({ kind, name }: RoleSlot): string {
    return `${kind.toLowerCase()}.${this.group} ${JSON.stringify(name)} not found`;
  }
}

function findInScope(
  scope: ScopeGrants | undefined,
  user: UserInfo,
  attributes: AuthorizerAttributes,
  full: string,
  wildcard: string,
): Grant | undefined {
  if (scope === undefined) return undefined;
  let found = findGrant(scope.ofUser(user.name), attributes, full, wildcard);
  if (found !== undefined) return found;
  for (const group of user.groups) {
    found = findGrant(scope.ofGroup(group), attributes, full, wildcard);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findGrant(
  grants: readonly Grant[],
  attributes: AuthorizerAttributes,
  full: string,
  wildcard: string,
): Grant | undefined {
  const { verb, apiGroup, name, isResourceRequest, path } = attributes;
  for (const grant of grants) {
    const { role } = grant.slot;
    if (role === undefined) continue;
    const isAllowed = isResourceRequest
      ? role.allowsResource(verb, apiGroup, full, wildcard, name)
      : role.allowsPath(verb, path);
    if (isAllowed) return grant;
  }
  return undefined;
}
