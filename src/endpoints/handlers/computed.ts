import type { FastifyReply } from 'fastify';
import type { ApiObject } from '../../machinery/api-object.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { notFoundError } from '../../machinery/status-error.js';
import { encodeForStorage } from '../../registry/store/object-codec.js';
import { fieldsOf, parseSelection } from '../../registry/store/selection.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { parseTimeoutSeconds } from '../negotiation/list-options.js';
import { sendObject } from '../negotiation/respond.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { listWriter } from './list-writer.js';

/** GET of one object or all objects of a computed kind. They have no versions: paging and versions mean nothing. */
export async function handleComputed(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  acceptHeader: string | undefined,
  reply: FastifyReply,
): Promise<void> {
  const { definition } = scope.resource;
  const accepted =
    scope.verb === 'get'
      ? negotiateObject(services, context, acceptHeader, definition.kind)
      : services.accept.negotiate(acceptHeader, true);
  const selection = parseSelection(scope.resource, context.query);
  if (scope.verb === 'list') parseTimeoutSeconds(context.query.get('timeoutSeconds'));
  const objects = (await definition.compute?.(context)) ?? [];
  if (scope.verb === 'get') {
    const found = objects.find(({ metadata }) => metadata.name === scope.name);
    if (found === undefined) throw notFoundError(definition, scope.name);
    const text = { json: encodeForStorage(scope.resource, found), resourceVersion: undefined };
    sendObject(services, context, reply, 200, scope.resource, text, accepted);
    return;
  }
  const isSelected = (object: ApiObject) =>
    selection.labels.matches(object.metadata.labels ?? {}) && selection.fields.matches(fieldsOf(definition, object));
  const writer = listWriter(services, context, scope, accepted);
  writer.add(objects.filter(isSelected));
  await writer.send({}, reply);
}
