import type { RequestContext, RequestInfo } from '../machinery/request-context.js';

const noRequest: RequestInfo = Object.freeze({
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

/** The context of writes that come from the program itself, under the name of the control loop. */
export function workContext(loop: string, now: number, signal: AbortSignal): RequestContext {
  return {
    requestInfo: noRequest,
    query: new URLSearchParams(),
    userAgent: `plinth/${loop}`,
    receivedAt: now,
    signal,
    user: { name: `system:controller:${loop}`, uid: '', groups: ['system:authenticated'], extra: {} },
    admission: undefined,
    warnings: [],
    auditAnnotations: new Map(),
  };
}
