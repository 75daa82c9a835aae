import { type AskedSelectors, askedSelectors } from './asked-selectors.js';
import type { RequestInfo, UserInfo } from './request-context.js';

/**
 * Members may do everything, whatever the authorization modules decide, so a broken policy can't lock everybody out.
 */
export const privilegedGroup = 'system:masters';

/** The access to decide on (specification 5.4): may this user do this to this resource or path? */
export interface AuthorizerAttributes {
  readonly user: UserInfo;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly namespace: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly path: string;
  /** Undefined when the access concerns all objects. */
  readonly selectors?: AskedSelectors | undefined;
}

/** `noOpinion` passes the decision to the next module; if all abstain, the request is denied. */
export interface AuthorizationDecision {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
}

/** One authorization module. Throws only for its own faults, which deny the request. */
export interface Authorizer {
  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision;
}

/** Injection token of the final {@link Authorizer}, which combines all configured modes. */
export const AUTHORIZER = Symbol('Authorizer');

/** Allows nothing: the authorizer of processes that serve no requests. */
export const closedAuthorizer: Authorizer = Object.freeze({
  authorize: () => ({ decision: 'deny', reason: 'this process answers no requests' }) as const,
});

/** The attributes of an ordinary request. */
export function attributesOf(user: UserInfo, info: RequestInfo): AuthorizerAttributes {
  return {
    user,
    verb: info.verb,
    isResourceRequest: info.isResourceRequest,
    namespace: info.namespace,
    apiGroup: info.apiGroup,
    apiVersion: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    name: info.name,
    path: info.path,
    selectors: askedSelectors(info.fieldSelector ?? '', info.labelSelector ?? ''),
  };
}

/** One permission on resources, in RBAC's form (specification 2.10). */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Names to which the rule is limited; empty for all names. */
  readonly resourceNames: readonly string[];
}

/** One permission on paths; a trailing `*` matches any rest. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** The permissions of a user in a namespace, as far as the modules know them. */
export interface RuleList {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Set if a module can't list its rules, or failed to. */
  readonly incomplete: boolean;
  /** The reason, for people; empty when complete. */
  readonly evaluationError: string;
}

/** Lists permissions. Not every module can: a webhook only answers reviews. */
export interface RuleResolver {
  /** The rules in force for `user` in `namespace`, including cluster-wide ones. */
  rulesFor(user: UserInfo, namespace: string): Promise<RuleList> | RuleList;
}

/** Injection token of the {@link RuleResolver} of all configured modes. */
export const RULE_RESOLVER = Symbol('RuleResolver');

/** Returns no rules: the resolver of processes that serve no requests. */
export const closedRules: RuleResolver = Object.freeze({
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError: 'not available' }),
});
