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

/** Fourth guard: a request continues only when a module allows it; otherwise the answer is a 403. */
@Injectable()
export class AuthorizationGuard implements CanActivate {
  constructor(@Inject(AUTHORIZER) private readonly authorizer: Authorizer) {}

  /**
   * Answers synchronously if the modules do. If a module fails and no later one decides, the request ends with its
   * error.
   */
  canActivate(host: ExecutionContext): Promise<boolean> | boolean {
    const { plinthContext } = host.switchToHttp().getRequest<FastifyRequest & { plinthContext: RequestContext }>();
    if (plinthContext.user === undefined) throw unauthorizedError();
    const attributes = attributesOf(plinthContext.user, plinthContext.requestInfo);
    const asked = this.authorizer.authorize(attributes);
    if (asked instanceof Promise) return asked.then((decision) => allowed(plinthContext, attributes, decision));
    return allowed(plinthContext, attributes, asked);
  }
}

/** Only an explicit `allow` counts: without an opinion of any module, the request is denied. */
function allowed(
  { audit }: RequestContext,
  attributes: AuthorizerAttributes,
  { decision, reason }: AuthorizationDecision,
): boolean {
  audit?.decided(decision === 'allow', reason);
  if (decision === 'allow') return true;
  throw deniedError(attributes, reason);
}
