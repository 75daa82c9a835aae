import type { TLSSocket } from 'node:tls';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { RequestContext } from '../machinery/request-context.js';
import { unauthorizedError } from '../machinery/status-error.js';
import { anonymousUser } from './anonymous/anonymous.authenticator.js';
import type { AuthenticationRequest, Authenticator } from './authenticator.js';

/** First guard: binds every request to a user or refuses it with a 401 (specification 5.1). */
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly allowAnonymous: boolean,
  ) {}

  async canActivate(host: ExecutionContext): Promise<boolean> {
    const request = host.switchToHttp().getRequest<FastifyRequest & { plinthContext: RequestContext }>();
    const asked: AuthenticationRequest = {
      authorization: request.headers.authorization,
      socket: request.raw.socket as TLSSocket,
      headers: request.headers,
    };
    const tried = this.authenticator.authenticate(asked);
    const result = tried instanceof Promise ? await tried : tried;
    if (result.kind === 'user') {
      request.plinthContext.user = result.user;
      return true;
    }
    // Credentials that were sent but are wrong never fall back to anonymous.
    const sentSomething = result.kind === 'rejected' || asked.authorization !== undefined;
    if (sentSomething || !this.allowAnonymous) throw unauthorizedError();
    request.plinthContext.user = anonymousUser;
    return true;
  }
}
