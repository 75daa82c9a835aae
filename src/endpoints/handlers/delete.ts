import type { FastifyReply, FastifyRequest } from 'fastify';
import { leaveLarge } from '../../large/large-work.js';
import type { ApiObject } from '../../machinery/api-object.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { type Status, StatusError } from '../../machinery/status-error.js';
import { parseSelection } from '../../registry/selection.js';
import type { DeleteOutcome } from '../../registry/store.js';
import type { DeleteOptions } from '../../registry/strategy.js';
import { parseDeleteOptions } from '../negotiation/delete-options.js';
import { readBody } from '../negotiation/read-body.js';
import { sendObject, sendValue, servedObject } from '../negotiation/respond.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { listWriter } from './list-writer.js';
import { admissionOf, validateWith } from './write-context.js';

/** Deletes of a collection that are under way at the same time. */
const collectionWorkers = 8;

/** DELETE of one object. Answers a Status when the object is gone, the object while something still holds it. */
export async function handleDelete(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { definition } = scope.resource;
  const accepted = services.accept.negotiate(request.headers.accept, true);
  const options = await readOptions(services, context, request);
  const outcome = await deleteOne(services, context, scope, scope.namespace, scope.name, options);
  const showsObject =
    !outcome.removed ||
    definition.facts?.returnsDeletedObject === true ||
    definition.strategy.gracePeriodSeconds !== undefined;
  if (showsObject) {
    sendObject(services, context, reply, 200, scope.resource, outcome.text, accepted);
    return;
  }
  sendValue(context, reply, 200, successStatus(scope, outcome), accepted, services.kinds.status);
}

/** DELETE of a collection: every selected object, each under the rules of its own delete. */
export async function handleDeleteCollection(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const accepted = services.accept.negotiate(request.headers.accept, true);
  const selection = parseSelection(scope.resource, context.query);
  const options = await readOptions(services, context, request);
  const store = services.storeOf(scope.resource);
  const deleted: ApiObject[] = [];
  const queue: { namespace: string; name: string }[] = [];
  let at: bigint | undefined;
  let after: { namespace: string; name: string } | undefined;
  for (;;) {
    const page = await store.list({
      namespace: scope.namespace === '' ? undefined : scope.namespace,
      at,
      after,
      limit: services.options.listPageSize,
      select: selection.selectsAll ? undefined : selection,
    });
    at = page.resourceVersion;
    for (const item of page.items) {
      // Before the first one is deleted.
      leaveLarge(context, item.json.length);
      queue.push({ namespace: item.key.namespace, name: item.key.name });
    }
    const last = page.items.at(-1);
    if (!page.more || last === undefined) break;
    after = { namespace: last.key.namespace, name: last.key.name };
  }
  let next = 0;
  const worker = async () => {
    for (let item = queue[next++]; item !== undefined; item = queue[next++]) {
      try {
        const outcome = await deleteOne(services, context, scope, item.namespace, item.name, options);
        deleted.push(servedObject(scope.resource, outcome.text));
      } catch (error) {
        // Somebody else was faster: gone is what was wanted.
        if (!(error instanceof StatusError) || error.reason !== 'NotFound') throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(collectionWorkers, queue.length) }, worker));
  const byName = (a: ApiObject, b: ApiObject) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
  deleted.sort(byName);
  const writer = listWriter(services, context, scope, accepted);
  writer.add(deleted);
  await writer.send({ resourceVersion: String(at) }, reply);
}

async function readOptions(
  services: EndpointServices,
  context: RequestContext,
  request: FastifyRequest,
): Promise<DeleteOptions> {
  const body = await readBody(request, services.options.maxBodyBytes);
  return parseDeleteOptions(services, context, body, request.plinthContext?.contentType);
}

async function deleteOne(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  namespace: string,
  name: string,
  options: DeleteOptions,
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
  return services.storeOf(scope.resource).delete(context, namespace, name, options, validate);
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
