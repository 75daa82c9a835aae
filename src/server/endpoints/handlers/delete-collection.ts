import { throwIfLarge } from '../../../base/machinery/large-work.js';
import { selectorTurn } from '../../../base/machinery/pieces-in-turn.js';
import { invalidError, type Status, StatusError, timeoutError } from '../../../base/machinery/status-error.js';
import { collectionFaults } from '../../../objects/registry/metadata/checked-delete-options.js';
import { parseSelection, strictSelection } from '../../../objects/registry/store/selection.js';
import { checkForm, negotiateList } from '../negotiation/answer-form.js';
import { checkNumbers, parseListOptions } from '../negotiation/list-options.js';
import { checkListRules } from '../negotiation/list-rules.js';
import { sendValue } from '../negotiation/respond.js';
import type { ResourceRequest } from '../resource-request.js';
import { deleteOne, readOptions } from './delete.js';
import { listQuery, readPages } from './list-pages.js';

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * DELETE of a collection: deletes every object that a list with the same parameters would return, each under its own
 * rules. All errors of the request itself are detected before the first delete. The response reveals nothing about the
 * objects, since the right to delete does not include the right to read (specification 4.8).
 */
export async function handleDeleteCollection(request: ResourceRequest): Promise<void> {
  const { services, context, resource } = request;
  const accepted = negotiateList(request);
  checkForm(context, accepted);
  checkNumbers(context, services);
  const turn = selectorTurn(context);
  if (turn !== undefined) await turn;
  const selection = strictSelection(resource, parseSelection(resource, context.query));
  checkListRules(context.query, services.names);
  const options = await readOptions(request);
  const list = parseListOptions(context, services, listQuery(request));
  const faults = collectionFaults(options);
  if (faults.length > 0) {
    throw invalidError({ group: `meta.${services.names.suffix}`, kind: 'DeleteOptions' }, '', faults);
  }
  await request.admission.admitCollection(request.namespace);
  const targets: Target[] = [];
  for await (const { items } of readPages(request, selection, list)) {
    for (const { key, uid, json } of items) {
      // This must happen before the first delete.
      throwIfLarge(context, json);
      targets.push({ namespace: key.namespace, name: key.name, uid });
    }
  }
  // From here on the request can't move to another thread, which would no longer find the deleted objects.
  context.canMove = false;
  await forEachAtOnce(
    targets,
    services.options.deleteCollectionWorkers,
    context.signal,
    async ({ namespace, name, uid }) => {
      try {
        await deleteOne(request, namespace, name, options, uid);
      } catch (error) {
        // Another client has already deleted it, which is the wanted result.
        if (!(error instanceof StatusError) || error.reason !== 'NotFound') throw error;
      }
    },
  );
  sendValue(request, 200, successStatus(request), accepted, services.kinds.status);
}

/**
 * Processes all items, at most `atOnce` at a time. After a failure or an abort, starts no further item. Rejects with
 * the first failure once all started items have ended.
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

function successStatus({ resource: { definition } }: ResourceRequest): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...(definition.group === '' ? {} : { group: definition.group }), kind: definition.resource },
  };
}
