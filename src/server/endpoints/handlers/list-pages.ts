import type { ApiObject } from '../../../base/machinery/api-object.js';
import { longPieces } from '../../../base/machinery/pieces-in-turn.js';
import { expiredError, StatusError } from '../../../base/machinery/status-error.js';
import type { ConvertingRequest } from '../../../objects/registry/resource-definition.js';
import { parseStored } from '../../../objects/registry/store/object-codec.js';
import { convertedTexts } from '../../../objects/registry/store/remote-conversion.js';
import { type Selection, selectsConverted, storedSelection } from '../../../objects/registry/store/selection.js';
import { nextPageSize } from '../../../storage/page-size.js';
import {
  type KeptForms,
  type ListPage,
  type ListPosition,
  plainObject,
  type StoredObject,
} from '../../../storage/storage.interface.js';
import type { ContinueScope } from '../negotiation/continue-tokens.js';
import type { ListOptions } from '../negotiation/list-options.js';
import type { ListMetadata } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';

/** A part of one consistent list. */
export interface Page {
  readonly items: readonly StoredObject[];
  /** The metadata of the list; set on the last page only. */
  readonly metadata: ListMetadata | undefined;
  /** Cache for encoded forms of the items; undefined if the items can't be cached. */
  readonly forms?: KeptForms | undefined;
}

/** The scope that a continue token of the request is relative to. */
export function listScope({ resource, namespace }: ResourceRequest): ContinueScope {
  return { namespace, namespaced: resource.definition.namespaced };
}

/** The pages of {@link readPages}, with JSON in the requested version if a conversion webhook converts them. */
export async function* convertedPages(request: ResourceRequest, pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const { resource, context } = request;
  let asking: ConvertingRequest = context;
  for await (const page of pages) {
    const items = page.items.map(plainObject);
    const converting = convertedTexts(resource, items, asking);
    // The response may begin with the first page; then the request can't move any longer.
    asking = { signal: context.signal };
    // No cached forms: the result of a conversion webhook may change while the object does not.
    yield converting === undefined ? page : { ...page, items: await converting, forms: undefined };
  }
}

/** The pages as one, whose objects are in the order of the rows of a table. Only kinds with few objects have an order. */
export async function* pageOfRows({ resource }: ResourceRequest, pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const { rowOrder } = resource.definition;
  if (rowOrder === undefined) {
    yield* pages;
    return;
  }
  const found: { readonly item: StoredObject; readonly object: ApiObject }[] = [];
  let metadata: ListMetadata | undefined;
  for await (const page of pages) {
    for (const item of page.items) found.push({ item, object: parseStored(resource, item) });
    metadata = page.metadata;
  }
  found.sort((a, b) => rowOrder(a.object, b.object));
  yield { items: found.map(({ item }) => item), metadata };
}

/** Number of characters of objects to check before yielding to other requests. */
const selectedAtOnce = 128 * 1024;

/**
 * Selects at most `limit` objects of a page by their converted form, in the requested version. `last` is the key of the
 * last object that was checked, `isWhole` whether the page has no further objects.
 */
async function selectConverted(
  { resource, context }: ResourceRequest,
  selection: Selection,
  items: readonly StoredObject[],
  limit: number,
): Promise<{
  readonly items: readonly StoredObject[];
  readonly last: ListPosition | undefined;
  readonly isWhole: boolean;
}> {
  const plain = items.map(plainObject);
  const converted = (await convertedTexts(resource, plain, { signal: context.signal })) ?? plain;
  const selected: StoredObject[] = [];
  let characters = 0;
  for (const [i, item] of converted.entries()) {
    if (selectsConverted(selection, item)) selected.push(item);
    if (selected.length === limit) return { items: selected, last: item.key, isWhole: i === converted.length - 1 };
    characters += item.json.length;
    if (characters < selectedAtOnce) continue;
    characters = 0;
    await longPieces.turn();
  }
  return { items: selected, last: converted.at(-1)?.key, isWhole: true };
}

/**
 * The pages of one list, all at the version of the first page; at least one page. The objects are stored JSON, or in
 * the requested version if the selection applies to converted objects.
 *
 * @param endsPages whether the metadata of the last page say so although the client asked for no pages
 */
export async function* readPages(
  request: ResourceRequest,
  selection: Selection,
  { semantics, limit }: ListOptions,
  endsPages = false,
): AsyncGenerator<Page> {
  const { services, namespace, store } = request;
  const counts = limit > 0 && selection.selectsAll && services.features.isOn('RemainingItemCount');
  const countRemaining = counts && 'few';
  const { isOfConverted } = selection;
  // Whether this is the last chunk of a chunked list.
  const lastChunk = endsPages || limit > 0 || semantics.kind === 'continue' ? { continue: '' } : {};
  let left = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  let at = semantics.kind === 'exact' || semantics.kind === 'continue' ? semantics.version : undefined;
  let after = semantics.kind === 'continue' ? semantics.after : undefined;
  let pageSize = services.options.listPageSize;
  const read = (): Promise<ListPage> =>
    store
      .list({
        namespace: namespace === '' ? undefined : namespace,
        name: selection.name,
        at,
        notOlderThan: semantics.kind === 'notOlderThan' ? semantics.version : undefined,
        after,
        limit: limit > 0 && !isOfConverted ? left : undefined,
        pageSize,
        select: storedSelection(selection),
        countRemaining,
      })
      .catch((error: unknown) => {
        throw semantics.kind === 'continue' ? expiredToken(request, error, semantics.after) : error;
      });
  let reading = read();
  for (;;) {
    const page = await reading;
    at = page.resourceVersion;
    const converted = isOfConverted ? await selectConverted(request, selection, page.items, left) : undefined;
    const shown = converted === undefined ? page : { items: converted.items, forms: undefined };
    after = (converted === undefined ? page.items.at(-1)?.key : converted.last) ?? after;
    left -= shown.items.length;
    const more = page.more || converted?.isWhole === false;
    if (more && after !== undefined && left > 0) {
      pageSize = Math.min(services.options.listPageSize, nextPageSize(page));
      // The database works on the next page while this one is sent.
      reading = read();
      reading.catch(() => undefined);
      yield { items: shown.items, metadata: undefined, forms: shown.forms };
      continue;
    }
    const rest = more ? after : undefined;
    const metadata: ListMetadata = {
      resourceVersion: String(at),
      ...(rest === undefined
        ? lastChunk
        : { continue: services.continueTokens.encode(listScope(request), { version: at, after: rest }) }),
      ...(rest === undefined || page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    };
    yield { items: shown.items, metadata, forms: shown.forms };
    return;
  }
}

/**
 * Adds a new token to the error about an expired one. The new token continues from the same key, at the newest version
 * of the later request.
 */
function expiredToken(request: ResourceRequest, error: unknown, after: ListPosition): unknown {
  if (!(error instanceof StatusError) || error.reason !== 'Expired') return error;
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const token = request.services.continueTokens.encode(listScope(request), { version: undefined, after });
  return expiredError(message, token);
}
