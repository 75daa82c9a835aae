import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestContext } from '../../machinery/request-context.js';
import type { Status } from '../../machinery/status-error.js';
import type { DeleteOutcome } from '../../registry/store/store.js';
import type { DeleteOptions } from '../../registry/strategy.js';
import { negotiateObject } from '../negotiation/answer-form.js';
import { parseDeleteOptions } from '../negotiation/delete-options.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject, sendValue } from '../negotiation/respond.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { admissionOf, validateWith } from './write-context.js';

/**
 * DELETE of one object. Answers a Status when the object is gone, the object while something still holds it; some kinds
 * always show it. Who may not read the object gets a Status all the same.
 */
export async function handleDelete(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { definition } = scope.resource;
  const accepted = negotiateObject(services, context, request.headers.accept, definition.kind);
  const options = await readOptions(services, context, request);
  const outcome = await deleteOne(services, context, scope, scope.namespace, scope.name, options);
  const showsObject =
    !outcome.removed ||
    definition.facts?.returnsDeletedObject === true ||
    definition.strategy.gracePeriodSeconds !== undefined;
  if (showsObject && (await admissionOf(context).mayRead())) {
    sendObject(services, context, reply, 200, scope.resource, outcome.text, accepted);
    return;
  }
  sendValue(context, reply, 200, successStatus(scope, outcome), accepted, services.kinds.status);
}

/** Options of a delete, from its body and its query. */
export async function readOptions(
  services: EndpointServices,
  context: RequestContext,
  request: FastifyRequest,
): Promise<DeleteOptions> {
  const body = await readBody(request, services.options.maxBodyBytes);
  return parseDeleteOptions(services, context, body, request.plinthContext?.contentType);
}

/**
 * Deletes one object, with admission.
 *
 * @param uid the one object of that name that is meant; others count as not found
 */
export async function deleteOne(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  namespace: string,
  name: string,
  options: DeleteOptions,
  uid?: string,
): Promise<DeleteOutcome> {
  const raw = { kind: 'DeleteOptions', apiVersion: 'v1', ...options };
  await admissionOf(context).admit({
    operation: 'DELETE',
    name,
    object: undefined,
    oldObject: undefined,
    options: raw,
    dryRun: options.dryRun,
  });
  const validate = validateWith(context, { dryRun: options.dryRun, raw });
  return services.storeOf(scope.resource).delete(context, namespace, name, options, validate, uid);
}

function successStatus(scope: RequestScope, outcome: DeleteOutcome): Status {
  const { definition } = scope.resource;
  const { name, uid } = outcome.object.metadata;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      ...(name === undefined ? {} : { name }),
      ...(definition.group === '' ? {} : { group: definition.group }),
      kind: definition.resource,
      ...(uid === undefined ? {} : { uid }),
    },
  };
}
