import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  AUTHORIZER,
  type AuthorizationDecision,
  type Authorizer,
  type AuthorizerAttributes,
  attributesOf,
} from '../../base/machinery/authorizer.js';
import { deniedError } from '../../base/machinery/denied-error.js';
import { remoteCall } from '../../base/machinery/remote-call.js';
import type { RequestContext } from '../../base/machinery/request-context.js';
import { unauthorizedError } from '../../base/machinery/status-error.js';
import { AUTHORIZATION_METRICS, type AuthorizationMetrics } from './authorization-metrics.js';

/** Fourth guard: a request continues only when an authorizer allows it; otherwise the response is a 403. */
@Injectable()
export class AuthorizationGuard implements CanActivate {
  constructor(
    @Inject(AUTHORIZER) private readonly authorizer: Authorizer,
    @Inject(AUTHORIZATION_METRICS) private readonly metrics: Pick<AuthorizationMetrics, 'decided'>,
  ) {}

  /**
   * Decides synchronously if the authorizers do. If one fails and no later one decides, the request fails with its
   * error.
   */
  canActivate(host: ExecutionContext): Promise<boolean> | boolean {
    const { plinthContext } = host.getArgByIndex<FastifyRequest & { plinthContext: RequestContext }>(0);
    if (plinthContext.user === undefined) throw unauthorizedError();
    const attributes = attributesOf(plinthContext.user, plinthContext.requestInfo);
    const begin = performance.now();
    let pending: Promise<AuthorizationDecision> | AuthorizationDecision;
    try {
      pending = this.authorizer.authorize(attributes);
    } catch (error) {
      this.metrics.decided('error', begin);
      throw error;
    }
    if (pending instanceof Promise) return this.later(plinthContext, attributes, pending, begin);
    this.metrics.decided(pending.decision, begin);
    return allowed(plinthContext, attributes, pending);
  }

  private async later(
    context: RequestContext,
    attributes: AuthorizerAttributes,
    pending: Promise<AuthorizationDecision>,
    begin: number,
  ): Promise<boolean> {
    let decision: AuthorizationDecision;
    try {
      // A webhook decides.
      decision = await remoteCall(context, () => pending);
    } catch (error) {
      this.metrics.decided('error', begin);
      throw error;
    }
    this.metrics.decided(decision.decision, begin);
    return allowed(context, attributes, decision);
  }
}

/** Only an explicit `allow` counts: if no authorizer has an opinion, the request is denied. */
function allowed(
  context: RequestContext,
  attributes: AuthorizerAttributes,
  { decision, reason }: AuthorizationDecision,
): boolean {
  context.audit?.decided(decision === 'allow', reason);
  context.mark?.('authorization');
  if (decision === 'allow') return true;
  throw deniedError(attributes, reason);
}
