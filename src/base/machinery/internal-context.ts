import { privilegedGroup } from './authorizer.js';
import type { RequestContext, RequestInfo, UserInfo } from './request-context.js';

/** The request info of work that no client requested, or of a request that can't be read: neither a path nor a verb. */
export const noRequest: RequestInfo = Object.freeze({
  isResourceRequest: false,
  path: '',
  verb: '',
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
});

const server: UserInfo = Object.freeze({ name: 'system:apiserver', uid: '', groups: [privilegedGroup], extra: {} });
const never = new AbortController().signal;

/** The context of work that the program does on its own. `now` is in milliseconds since the epoch. */
export function internalContext(
  user: UserInfo,
  now: number,
  signal: AbortSignal = never,
  userAgent = '',
  requestInfo = noRequest,
): RequestContext {
  return {
    requestInfo,
    query: new URLSearchParams(),
    userAgent,
    receivedAt: now,
    signal,
    user,
    warnings: [],
    auditAnnotations: new Map(),
  };
}

/** The context for writes by the server itself, whatever the authorization. */
export function serverContext(now: number, signal?: AbortSignal, requestInfo?: RequestInfo): RequestContext {
  return internalContext(server, now, signal, '', requestInfo);
}
