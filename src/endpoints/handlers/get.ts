import type { FastifyReply } from 'fastify';
import { leaveLarge } from '../../large/large-work.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { parseResourceVersion, parseStored } from '../../registry/store/object-codec.js';
import { wantsPretty } from '../negotiation/accept.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { sendObject, sendsStoredText, sendValue } from '../negotiation/respond.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';

/**
 * GET and HEAD of one object, or of a subresource that shows it: the newest committed state, or any state from the
 * version on that the client names.
 */
export async function handleGet(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  acceptHeader: string | undefined,
  reply: FastifyReply,
): Promise<void> {
  const { resource, subresource } = scope;
  // Views of the object have one form.
  const accepted =
    subresource?.read === undefined
      ? negotiateObject(services, context, acceptHeader, resource.definition.kind)
      : services.accept.negotiate(acceptHeader, false);
  const store = services.storeOf(scope.resource);
  const asked = context.query.get('resourceVersion') ?? '';
  const notOlderThan = parseResourceVersion(asked) ?? (asked === '0' ? 0n : undefined);
  const found = await store.get(scope.namespace, scope.name, notOlderThan);
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (subresource?.read !== undefined || !sendsStoredText(accepted, resource, pretty)) {
    leaveLarge(context, found.json);
  }
  if (subresource?.read === undefined) sendObject(services, context, reply, 200, resource, found, accepted);
  else {
    const view = subresource.read(parseStored(resource, found));
    sendValue(context, reply, 200, view, accepted, subresource.type ?? resource.served.type);
  }
}
