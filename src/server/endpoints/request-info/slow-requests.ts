import type { FastifyRequest } from 'fastify';
import type { Logger } from '../../../base/observability/logger.js';
import { requestIdOf } from '../../audit/request-id.js';
import type { HttpRequestContext } from './http-request-context.js';

/** A finished request. */
export interface EndedRequest {
  readonly context: HttpRequestContext;
  readonly request: FastifyRequest;
  readonly code: number;
}

/**
 * Logs a slow request with the duration of each phase in milliseconds, but never any part of the query or of a body.
 */
export function logSlowRequest(
  logger: Pick<Logger, 'warn'>,
  { context, request, code }: EndedRequest,
  seconds: number,
): void {
  const { requestInfo, user, startedAt, phaseEnds } = context;
  const phases: Record<string, number> = {};
  let last = startedAt;
  for (let i = 0; i < phaseEnds.length; i += 2) {
    const at = phaseEnds[i + 1] as number;
    const name = phaseEnds[i] as string;
    phases[name] = Math.round(((phases[name] ?? 0) + at - last) * 10) / 10;
    last = at;
  }
  logger.warn('slow request', {
    requestId: requestId(request),
    verb: requestInfo.verb,
    path: requestInfo.path,
    user: user?.name,
    userAgent: context.userAgent.slice(0, 256),
    code,
    durationMs: Math.round(seconds * 1000),
    waitedMs: Math.round(context.waitedMs),
    bytes: context.answerBytes,
    ...(context.trace === undefined ? {} : { traceId: context.trace.traceId }),
    phases,
  });
}

/** The id of a request in logs: the id of its audit events, or the one that its client sent. */
export function requestId({ raw, plinthContext }: FastifyRequest): string {
  return plinthContext?.requestId ?? requestIdOf(raw.headers);
}
