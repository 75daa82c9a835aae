import type { FastifyReply, FastifyRequest } from 'fastify';
import { leaveLarge } from '../../large/large-work.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { type Status, StatusError, timeoutError } from '../../machinery/status-error.js';
import { parseSelection } from '../../registry/store/selection.js';
import { checkForm } from '../negotiation/answer-form.js';
import { parseListOptions } from '../negotiation/list-options.js';
import { sendValue } from '../negotiation/respond.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { deleteOne, readOptions } from './delete.js';
import { listQuery, readPages } from './list-pages.js';

/** Deletes of a collection that are under way at the same time. */
const collectionWorkers = 8;

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * DELETE of a collection: every object that a list with the same parameters would show, each under the rules of its own
 * delete. Everything that can be wrong with the request is found before the first delete. The answer says nothing about
 * the objects: whoever may delete them need not be allowed to read them (specification 4.8).
 */
export async function handleDeleteCollection(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const accepted = services.accept.negotiate(request.headers.accept, true);
  checkForm(context, accepted);
  const selection = parseSelection(scope.resource, context.query);
  const list = parseListOptions(context, services.continueTokens, listQuery(context, scope));
  const options = await readOptions(services, context, request);
  const targets: Target[] = [];
  for await (const { items } of readPages(services, context, scope, selection, list)) {
    for (const { key, uid, json } of items) {
      // Before the first one is deleted.
      leaveLarge(context, json);
      targets.push({ namespace: key.namespace, name: key.name, uid });
    }
  }
  // What is deleted here would not be among the objects that another thread finds.
  context.canLeave = false;
  await forEachAtOnce(targets, collectionWorkers, context.signal, async ({ namespace, name, uid }) => {
    try {
      await deleteOne(services, context, scope, namespace, name, options, uid);
    } catch (error) {
      // Somebody else was faster: gone is what was wanted.
      if (!(error instanceof StatusError) || error.reason !== 'NotFound') throw error;
    }
  });
  sendValue(context, reply, 200, successStatus(scope), accepted, services.kinds.status);
}

/**
 * Works on all items, at most `atOnce` at a time. After a failure, or when the signal is aborted, no further item is
 * begun; rejects with the first failure once nothing is under way any more.
 */
export async function forEachAtOnce<T>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const failures: unknown[] = [];
  const worker = async () => {
    while (next < items.length && failures.length === 0) {
      if (signal.aborted) {
        failures.push(timeoutError('the request ended before everything was done'));
        return;
      }
      await work(items[next++] as T).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
}

function successStatus({ resource: { definition } }: RequestScope): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...(definition.group === '' ? {} : { group: definition.group }), kind: definition.resource },
  };
}
