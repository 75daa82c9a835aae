import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { UserInfo } from '../../machinery/request-context.js';
import type { HttpRequestContext } from './http-request-context.js';
import { InFlightLimiter } from './in-flight.js';

const healthPath = /^\/(?:livez|readyz|healthz)(?:\/|$)/;

/**
 * Third guard: a request takes one of the in-flight seats, now that its user is known, or is refused with a 429.
 * Long-running ones take none. Health checks are never refused, because a busy server would look broken.
 * Administrators are never refused, because they must be able to fix the problem.
 */
@Injectable()
export class InFlightGuard implements CanActivate {
  constructor(@Inject(InFlightLimiter) private readonly limiter: InFlightLimiter) {}

  canActivate(host: ExecutionContext): boolean {
    const { method, plinthContext } = host.switchToHttp().getRequest<FastifyRequest>();
    const context = plinthContext as HttpRequestContext;
    const { path } = context.requestInfo;
    if (context.isLongRunning) return true;
    const groups = context.user?.groups ?? [];
    const kind = isUnauthenticated(context.user) ? 'unauthenticated' : InFlightLimiter.kindOf(method);
    context.seat = this.limiter.enter(kind, groups.includes('system:masters') || healthPath.test(path));
    return true;
  }
}

function isUnauthenticated(user: UserInfo | undefined): boolean {
  return user === undefined || (user.groups.includes('system:unauthenticated') && user.name === 'system:anonymous');
}
