import { largeLimits, throwIfLarge, throwIfLong } from '../../../base/machinery/large-work.js';
import { longPieces, selectorTurn } from '../../../base/machinery/pieces-in-turn.js';
import { invalidError, type Status, StatusError, timeoutError } from '../../../base/machinery/status-error.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import { collectionFaults } from '../../../objects/registry/metadata/checked-delete-options.js';
import { remoteConversionOf, showsDeletedCollection } from '../../../objects/registry/resource-definition.js';
import { parseSelectors, selectionOf, strictSelection } from '../../../objects/registry/store/selection.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { checkForm, negotiateList } from '../negotiation/answer-form.js';
import { checkNumbers, parseListOptions } from '../negotiation/list-options.js';
import { checkListRules } from '../negotiation/list-rules.js';
import { sendValue } from '../negotiation/respond.js';
import type { ListMetadata } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';
import { deleteOne, readOptions } from './delete.js';
import { convertedPages, listScope, type Page, readPages } from './list-pages.js';
import { isWrittenWhole, listWriter } from './list-writer.js';

/** Number of characters of stored JSON that the request holds for its response. */
const shownCharacters = 8 * 1024 * 1024;
/** Number of characters to encode before yielding to other requests. */
const encodedAtOnce = 128 * 1024;

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * DELETE of a collection: deletes every object that a list with the same parameters would return, each under its own
 * rules. All errors of the request itself are detected before the first delete. Returns the list as it was, or a
 * Status: to users who may not list the objects, for kinds whose collections always answer one (specification 4.8),
 * and for lists that are too long to be held until the last delete.
 */
export async function handleDeleteCollection(request: ResourceRequest): Promise<void> {
  const { services, context, resource } = request;
  const { definition } = resource;
  const accepted = negotiateList(request);
  checkForm(context, accepted);
  checkNumbers(context, services);
  const shows = showsDeletedCollection(definition) && (await request.admission.mayRead(context, 'list'));
  const response = shows ? new DeletedList(request, accepted) : undefined;
  const turn = selectorTurn(context);
  if (turn !== undefined) await turn;
  const selectors = parseSelectors(context.query);
  checkListRules(context.query, services.names);
  const selection = strictSelection(resource, selectionOf(resource, selectors));
  const options = await readOptions(request);
  const list = parseListOptions(context, services, listScope(request));
  const faults = collectionFaults(options);
  if (faults.length > 0) {
    throw invalidError({ group: `meta.${services.names.suffix}`, kind: 'DeleteOptions' }, '', faults);
  }
  await request.admission.admitCollection(request.namespace);
  const targets: Target[] = [];
  const stored = readPages(request, selection, list, shows && resource.served.type.custom !== undefined);
  const isConverted = shows && remoteConversionOf(definition) !== undefined && !selection.isOfConverted;
  for await (const page of isConverted ? convertedPages(request, stored) : stored) {
    response?.hold(page);
    for (const { key, uid, json } of page.items) {
      // This must happen before the first delete.
      throwIfLarge(context, json);
      targets.push({ namespace: key.namespace, name: key.name, uid });
    }
  }
  // From here on the request can't move to another thread, which would no longer find the deleted objects.
  context.mayChangeThread = false;
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
  if (response?.isWhole) await response.send();
  else sendValue(request, 200, successStatus(request), accepted, services.kinds.status);
}

/** The objects of a collection that is being deleted, as they were before. */
class DeletedList {
  private pages: Page[] = [];
  private characters = 0;

  constructor(
    private readonly request: ResourceRequest,
    private readonly accepted: AcceptedType,
  ) {
    // Throws the 406 for a form that lists don't have.
    listWriter(request, accepted);
  }

  /** Whether all objects are held. */
  get isWhole(): boolean {
    return this.characters <= shownCharacters;
  }

  /** Holds a page, or lets go of all of them if there is too much. Throws if the response is written elsewhere. */
  hold(page: Page): void {
    for (const { json } of page.items) this.characters += json.length;
    if (!this.isWhole) {
      this.pages = [];
      return;
    }
    const { context } = this.request;
    if (isWrittenWhole(context, this.accepted) && this.characters > largeLimits.wholeList) {
      throwIfLong(context, this.characters);
    }
    this.pages.push(page);
  }

  async send(): Promise<void> {
    const tenant = tenantOf(this.request.context.user?.name ?? '');
    const writer = listWriter(this.request, this.accepted);
    let characters = 0;
    let metadata: ListMetadata = {};
    for (const page of this.pages) {
      metadata = page.metadata ?? metadata;
      for (const item of page.items) {
        characters += writer.addStored(item, page.forms);
        if (characters < encodedAtOnce) continue;
        characters = 0;
        await longPieces.turn(tenant);
      }
    }
    await writer.send(metadata);
  }
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
