import type { TraceSpan } from '../../../base/observability/trace-scope.js';
import { type EndedRequest, requestId } from './slow-requests.js';

/** Ends the span of a request and sets its attributes. The phases of the request become spans of their own. */
export function endTrace(span: TraceSpan, { context, request, code }: EndedRequest): void {
  const { requestInfo, phaseEnds, userAgent } = context;
  let last = context.startedAt;
  for (let i = 0; i < phaseEnds.length; i += 2) {
    const at = phaseEnds[i + 1] as number;
    span.past(phaseEnds[i] as string, last, at);
    last = at;
  }
  span.set({
    'http.request.method': request.method,
    'http.response.status_code': code,
    'url.path': requestInfo.path,
    'user_agent.original': userAgent.slice(0, 256),
    'audit-id': requestId(request),
    verb: requestInfo.verb,
    ...(requestInfo.isResourceRequest ? { resource: requestInfo.resource, group: requestInfo.apiGroup } : {}),
  });
  if (code >= 500) span.fail(`HTTP ${code}`);
  span.end();
}
