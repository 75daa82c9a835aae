import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RequestContext } from '../machinery/request-context.js';
import type { LaneRequest } from './lane-messages.js';

/** Set on every request in the thread, whatever its client sent under the name. */
export const idHeader = 'x-plinth-lane';

/** Binds a request to the user that the process found out, which also has decided that it may be made. */
@Injectable()
export class ForwardedGuard implements CanActivate {
  private readonly requests = new Map<string, LaneRequest>();
  private lastId = 0;

  enter(request: LaneRequest): string {
    const id = String(++this.lastId);
    this.requests.set(id, request);
    return id;
  }

  leave(id: string): void {
    this.requests.delete(id);
  }

  canActivate(host: ExecutionContext): boolean {
    const http = host.switchToHttp();
    const { headers, plinthContext } = http.getRequest<FastifyRequest & { plinthContext: RequestContext }>();
    const request = this.requests.get(String(headers[idHeader]));
    if (request === undefined) return false;
    plinthContext.user = request.user;
    plinthContext.impersonator = request.impersonator;
    return true;
  }
}
