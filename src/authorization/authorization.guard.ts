import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  AUTHORIZER,
  type AuthorizationDecision,
  type Authorizer,
  type AuthorizerAttributes,
  attributesOf,
} from '../machinery/authorizer.js';
import { deniedError } from '../machinery/denied-error.js';
import type { RequestContext } from '../machinery/request-context.js';
import { unauthorizedError } from '../machinery/status-error.js';

/** Fourth guard: a request goes on only when a module allows it; everything else is a 403. */
@Injectable()
export class AuthorizationGuard implements CanActivate {
  constructor(@Inject(AUTHORIZER) private readonly authorizer: Authorizer) {}

  /** Answers at once while the modules do. A module that fails and isn't made up for ends the request with its error. */
  canActivate(host: ExecutionContext): Promise<boolean> | boolean {
    const { plinthContext } = host.switchToHttp().getRequest<FastifyRequest & { plinthContext: RequestContext }>();
    if (plinthContext.user === undefined) throw unauthorizedError();
    const attributes = attributesOf(plinthContext.user, plinthContext.requestInfo);
    const asked = this.authorizer.authorize(attributes);
    if (asked instanceof Promise) return asked.then((decision) => allowed(attributes, decision));
    return allowed(attributes, asked);
  }
}

/** Only the one word opens the way: what a module has no opinion on is denied. */
function allowed(attributes: AuthorizerAttributes, { decision, reason }: AuthorizationDecision): boolean {
  if (decision === 'allow') return true;
  throw deniedError(attributes, reason);
}
