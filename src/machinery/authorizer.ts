import type { RequestInfo, UserInfo } from './request-context.js';

/** Members may do everything, whatever the modules say: nobody can be locked out by a broken policy. */
export const privilegedGroup = 'system:masters';

/** What is judged (specification 5.4): who wants to do what to which resource or path. */
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
}

/** `noOpinion` passes the question on to the next module; when all abstain the request is denied. */
export interface AuthorizationDecision {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
}

/** One authorization module. Throws only for faults of its own, which deny the request. */
export interface Authorizer {
  authorize(attributes: AuthorizerAttributes): Promise<AuthorizationDecision> | AuthorizationDecision;
}

/** Injection token of the {@link Authorizer} that has the last word: all configured modes together. */
export const AUTHORIZER = Symbol('Authorizer');

/** For processes that answer no requests: allows nothing. */
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
  };
}

/** One permission on resources, as RBAC writes it (specification 2.10). */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** Empty: every name. */
  readonly resourceNames: readonly string[];
}

/** One permission on paths; a trailing `*` stands for everything behind it. */
export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** What a user may do in a namespace, as far as the modules can say. */
export interface RuleList {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Some module can't enumerate its rules, or failed to. */
  readonly incomplete: boolean;
  /** Why, for people; empty when complete. */
  readonly evaluationError: string;
}

/** Enumerates permissions; not every module can (a webhook answers questions only). */
export interface RuleResolver {
  /** Rules in force for `user` in `namespace`, cluster-wide ones included. */
  rulesFor(user: UserInfo, namespace: string): Promise<RuleList> | RuleList;
}

/** Injection token of the {@link RuleResolver} of all configured modes. */
export const RULE_RESOLVER = Symbol('RuleResolver');

/** For processes that answer no requests: knows no rules. */
export const closedRules: RuleResolver = Object.freeze({
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError: 'not available' }),
});
