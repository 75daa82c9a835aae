import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { FEATURE_GATES, type FeatureGates } from '../../../base/config/feature-gates.js';
import { AUTHORIZER, type Authorizer, attributesOf } from '../../../base/machinery/authorizer.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { unauthorizedError } from '../../../base/machinery/status-error.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { VENDOR_NAMES, type VendorNames } from '../../../base/machinery/vendor.js';
import { type RequestHead, removeFields } from '../header-fields.js';
import { ImpersonationDecider } from './impersonation-decider.js';
import { isImpersonationField, readImpersonation } from './impersonation-request.js';
import { RefusalPace } from './refusal-pace.js';

/**
 * Second guard: a request with `Impersonate-*` fields continues as the user they name. Its sender must be allowed to
 * impersonate that user, each of the groups, the uid and each extra field (specification 5.4). From here on the request
 * has only that user's rights; the sender stays in the context for the audit trail. The fields are removed from the
 * request.
 */
@Injectable()
export class ImpersonationGuard implements CanActivate {
  private readonly decider: ImpersonationDecider;
  private readonly refusals = new RefusalPace(systemTimers);

  constructor(
    @Inject(AUTHORIZER) authorizer: Authorizer,
    @Inject(VENDOR_NAMES) names: VendorNames,
    @Inject(FEATURE_GATES) gates: FeatureGates,
  ) {
    this.decider = new ImpersonationDecider(authorizer, names, gates.isOn('ConstrainedImpersonation'));
  }

  canActivate(host: ExecutionContext): Promise<boolean> | boolean {
    const request = host.getArgByIndex<FastifyRequest & { plinthContext: RequestContext }>(0);
    const head = request.raw as unknown as RequestHead;
    if (!hasAny(head.headers)) return true;
    return this.impersonate(request.plinthContext, head);
  }

  private async impersonate(context: RequestContext, head: RequestHead): Promise<boolean> {
    const fields = head.rawHeaders.length / 2;
    try {
      return await this.become(context, head);
    } catch (error) {
      await this.refusals.turn(context.user?.name ?? '', fields, context.signal);
      throw error;
    }
  }

  private async become(context: RequestContext, head: RequestHead): Promise<boolean> {
    const wanted = readImpersonation(head);
    removeFields(head, isImpersonationField);
    if (wanted === undefined) return true;
    const sender = context.user;
    if (sender === undefined) throw unauthorizedError();
    const { user, constraint } = await this.decider.decide(wanted, attributesOf(sender, context.requestInfo));
    context.impersonator = sender;
    context.impersonationConstraint = constraint;
    context.user = user;
    return true;
  }
}

function hasAny(headers: RequestHead['headers']): boolean {
  for (const name in headers) if (isImpersonationField(name)) return true;
  return false;
}
