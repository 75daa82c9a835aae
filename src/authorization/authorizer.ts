import type { RequestInfo, UserInfo } from '../machinery/request-context.js';

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
