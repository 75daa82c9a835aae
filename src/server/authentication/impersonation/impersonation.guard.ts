import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AUTHORIZER, type Authorizer, type AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import { deniedError } from '../../../base/machinery/denied-error.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import { unauthorizedError } from '../../../base/machinery/status-error.js';
import { groupName, VENDOR_NAMES, type VendorNames } from '../../../base/machinery/vendor.js';
import { type RequestHead, removeFields } from '../header-fields.js';
import {
  type ImpersonationRequest,
  impersonatedUser,
  isImpersonationField,
  readImpersonation,
} from './impersonation-request.js';

/**
 * Second guard: a request with `Impersonate-*` fields continues as the user they name. Its sender must be allowed to
 * impersonate that user, each of the groups, the uid and each extra field (specification 5.4). From here on the request
 * has only that user's rights; the sender stays in the context for the audit trail. The fields are removed from the
 * request.
 */
@Injectable()
export class ImpersonationGuard implements CanActivate {
  private readonly group: string;

  constructor(
    @Inject(AUTHORIZER) private readonly authorizer: Authorizer,
    @Inject(VENDOR_NAMES) names: VendorNames,
  ) {
    this.group = groupName('authentication', names);
  }

  canActivate(host: ExecutionContext): Promise<boolean> | boolean {
    const request = host.getArgByIndex<FastifyRequest & { plinthContext: RequestContext }>(0);
    const head = request.raw as unknown as RequestHead;
    if (!hasAny(head.headers)) return true;
    return this.impersonate(request.plinthContext, head);
  }

  private async impersonate(context: RequestContext, head: RequestHead): Promise<boolean> {
    const wanted = readImpersonation(head);
    removeFields(head, isImpersonationField);
    if (wanted === undefined) return true;
    const { user } = context;
    if (user === undefined) throw unauthorizedError();
    for (const attributes of this.questions(user, wanted)) {
      const { decision, reason } = await this.authorizer.authorize(attributes);
      if (decision !== 'allow') throw deniedError(attributes, reason);
    }
    context.impersonator = user;
    context.user = impersonatedUser(wanted);
    return true;
  }

  /** The permissions that the sender needs, in the order they are checked. */
  private *questions(user: UserInfo, wanted: ImpersonationRequest): Generator<AuthorizerAttributes> {
    const { account, userName, groups, uid, extra } = wanted;
    if (account === undefined) yield this.question(user, '', 'users', userName);
    else yield { ...this.question(user, '', 'serviceaccounts', account.name), namespace: account.namespace };
    for (const name of groups) yield this.question(user, '', 'groups', name);
    for (const [key, values] of extra) {
      for (const value of values) yield { ...this.question(user, this.group, 'userextras', value), subresource: key };
    }
    if (uid !== '') yield this.question(user, this.group, 'uids', uid);
  }

  private question(user: UserInfo, apiGroup: string, resource: string, name: string): AuthorizerAttributes {
    return {
      user,
      verb: 'impersonate',
      isResourceRequest: true,
      namespace: '',
      apiGroup,
      apiVersion: 'v1',
      resource,
      subresource: '',
      name,
      path: '',
    };
  }
}

function hasAny(headers: RequestHead['headers']): boolean {
  for (const name in headers) if (isImpersonationField(name)) return true;
  return false;
}
