import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  type AuthorizationDecision,
  type Authorizer,
  type AuthorizerAttributes,
  attributesOf,
} from '../machinery/authorizer.js';
import { formatGroupResource } from '../machinery/group-version.js';
import type { RequestContext } from '../machinery/request-context.js';
import { StatusError, unauthorizedError } from '../machinery/status-error.js';

/** Second guard: a request goes on only when a module allows it; everything else is a 403. */
export class AuthorizationGuard implements CanActivate {
  constructor(private readonly authorizer: Authorizer) {}

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

/** The 403 of a request that was not allowed; says who wanted what, never whether it exists. */
export function deniedError(attributes: AuthorizerAttributes, reason: string): StatusError {
  const { user, verb, resource, subresource, apiGroup, namespace, name } = attributes;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!attributes.isResourceRequest) {
    const message = `forbidden: User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(attributes.path)}${tail}`;
    return new StatusError('Forbidden', message, { details: {} });
  }
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const what = `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(full)} in API group ${JSON.stringify(apiGroup)} ${where}`;
  const gr = formatGroupResource({ group: apiGroup, resource });
  const subject = name === '' ? gr : `${gr} ${JSON.stringify(name)}`;
  return new StatusError('Forbidden', `${subject} is forbidden: ${what}${tail}`, {
    details: {
      ...(name === '' ? {} : { name }),
      ...(apiGroup === '' ? {} : { group: apiGroup }),
      kind: resource,
    },
  });
}
