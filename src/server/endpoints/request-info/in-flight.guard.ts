import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { noteWait, type UserInfo } from '../../../base/machinery/request-context.js';
import { FLOW_CONTROL, type FlowControl, type FlowRequest } from '../../flow-control/flow-control.js';
import { LongRunningMemory } from '../../flow-control/long-running-memory.js';
import type { HttpRequestContext } from './http-request-context.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import { keptBytes } from './kept-bytes.js';

const nobody: UserInfo = { name: '', uid: '', groups: [], extra: {} };
const healthPath = /^\/(?:livez|readyz|healthz)(?:\/|$)/;

/**
 * Third guard: a request takes its seats, now that its user is known. Flow control may make it wait for them, or refuse
 * it with a 429.
 *
 * A long-running request is also refused when its user's long-running requests hold too much memory.
 *
 * Without flow control, a request takes one of the in-flight seats or is refused. Long-running requests take none.
 * Health checks are never refused, because a busy server would look broken. Administrators are never refused, because
 * they must be able to fix the problem.
 */
@Injectable()
export class InFlightGuard implements CanActivate {
  constructor(
    @Inject(InFlightLimiter) private readonly limiter: InFlightLimiter,
    @Inject(FLOW_CONTROL) private readonly flowControl: FlowControl | undefined,
    @Inject(LongRunningMemory) private readonly longRunning: LongRunningMemory,
  ) {}

  canActivate(host: ExecutionContext): boolean | Promise<boolean> {
    const request = host.getArgByIndex<FastifyRequest>(0);
    const { method, plinthContext } = request;
    const context = plinthContext as HttpRequestContext;
    const { path, verb } = context.requestInfo;
    const { flowControl, limiter } = this;
    if (context.isLongRunning) this.keep(context, request);
    if (context.isLongRunning && (flowControl === undefined || verb !== 'watch')) return true;
    const kind = InFlightLimiter.kindOf(method);
    const isAnonymous = isUnauthenticated(context.user);
    const isHealth = healthPath.test(path);
    if (flowControl === undefined) {
      const isExempt = isHealth || (context.user?.groups.includes('system:masters') ?? false);
      context.seat = limiter.enter(isAnonymous ? 'unauthenticated' : kind, isExempt);
      return true;
    }
    // Anonymous requests always have a limit of their own, including waiting requests.
    const anonymousSeat =
      isAnonymous && !context.isLongRunning ? limiter.enter('unauthenticated', isHealth) : undefined;
    const bodyBytes = Number(request.headers['content-length'] ?? 0) || 0;
    return enterFlow(flowControl, context, host.getArgByIndex<FastifyReply>(1), { kind, bodyBytes, anonymousSeat });
  }

  private keep(context: HttpRequestContext, { raw }: FastifyRequest): void {
    context.memoryShare = this.longRunning.enter(context.user ?? nobody, keptBytes(raw));
    // The client may have left during authentication.
    if (context.isOver) context.memoryShare.leave();
  }
}

function enterFlow(
  flowControl: FlowControl,
  context: HttpRequestContext,
  reply: FastifyReply,
  of: Pick<FlowRequest, 'kind' | 'bodyBytes' | 'anonymousSeat'>,
): boolean | Promise<boolean> {
  const user = context.user as UserInfo;
  const { requestInfo: info, query, receivedAt, timeLimitMs } = context;
  const schema = flowControl.schemaOf(user, info);
  if (schema.uid !== '') reply.header('x-kubernetes-pf-flowschema-uid', schema.uid);
  if (schema.level.uid !== '') reply.header('x-kubernetes-pf-prioritylevel-uid', schema.level.uid);
  const seat = flowControl.enter(schema, { user, info, query, receivedAt, timeLimitMs, ...of });
  // When the request ends, it also leaves its queue.
  context.seat = seat;
  if (seat.granted === undefined) return true;
  const begin = performance.now();
  return seat.granted.then(() => {
    noteWait(context, begin);
    context.mark('queue');
    return true;
  });
}

function isUnauthenticated(user: UserInfo | undefined): boolean {
  return user === undefined || (user.groups.includes('system:unauthenticated') && user.name === 'system:anonymous');
}
