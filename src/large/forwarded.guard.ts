import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { HttpRequestContext } from '../endpoints/request-info/http-request-context.js';
import type { LaneRequest } from './lane-messages.js';

/** Set on every request in the thread, replacing any header that a client sent under this name. */
export const idHeader = 'x-plinth-lane';

/** Binds a request to the user whom the process has authenticated. The process has authorized the request, too. */
@Injectable()
export class ForwardedGuard implements CanActivate {
  private readonly requests = new Map<string, { readonly request: LaneRequest; readonly left: AbortSignal }>();
  private lastId = 0;

  /** Registers a request; `left` ends it, as when a client leaves. */
  enter(request: LaneRequest, left: AbortSignal): string {
    const id = String(++this.lastId);
    this.requests.set(id, { request, left });
    return id;
  }

  leave(id: string): void {
    this.requests.delete(id);
  }

  canActivate(host: ExecutionContext): boolean {
    const http = host.switchToHttp();
    const { headers, plinthContext } = http.getRequest<FastifyRequest & { plinthContext: HttpRequestContext }>();
    const entered = this.requests.get(String(headers[idHeader]));
    if (entered === undefined) return false;
    const { request, left } = entered;
    plinthContext.user = request.user;
    plinthContext.impersonator = request.impersonator;
    if (left.aborted) plinthContext.abort();
    else left.addEventListener('abort', () => plinthContext.abort(), { once: true });
    return true;
  }
}
