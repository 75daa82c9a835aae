import { expiredError, StatusError } from '../../machinery/status-error.js';
import { convertedTexts } from '../../registry/store/remote-conversion.js';
import type { Selection } from '../../registry/store/selection.js';
import { nextPageSize } from '../../storage/page-size.js';
import {
  type KeptForms,
  type ListPage,
  type ListPosition,
  plainObject,
  type StoredObject,
} from '../../storage/storage.interface.js';
import type { ContinueQuery } from '../negotiation/continue-token.js';
import type { ListOptions } from '../negotiation/list-options.js';
import type { ListMetadata } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';

/** A part of one consistent list. */
export interface Page {
  readonly items: readonly StoredObject[];
  /** The metadata of the list; set on the last page only. */
  readonly metadata: ListMetadata | undefined;
  /** Where forms of the items can be kept. */
  readonly forms?: KeptForms | undefined;
}

/** The query that a continue token belongs to. */
export function listQuery({ context: { query }, resource, namespace }: ResourceRequest): ContinueQuery {
  const { group, resource: plural } = resource.definition;
  return {
    group,
    resource: plural,
    namespace,
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
  };
}

/** The pages of {@link readPages}, with texts in the requested version where something outside converts them. */
export async function* convertedPages(request: ResourceRequest, pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const { resource, context } = request;
  for await (const page of pages) {
    const converting = convertedTexts(resource, page.items.map(plainObject), context.signal);
    // What something outside makes of an object may change while the object does not.
    yield converting === undefined ? page : { ...page, items: await converting, forms: undefined };
  }
}

/** The pages of one list, all at the version of the first page; at least one page. */
export async function* readPages(
  request: ResourceRequest,
  selection: Selection,
  { semantics, limit }: ListOptions,
): AsyncGenerator<Page> {
  const { services, namespace, store } = request;
  const counts = limit > 0 && selection.selectsAll && services.features.isOn('RemainingItemCount');
  const countRemaining = counts && 'few';
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
        limit: limit > 0 ? left : undefined,
        pageSize,
        select: selection.selectsAll ? undefined : selection,
        countRemaining,
      })
      .catch((error: unknown) => {
        throw semantics.kind === 'continue' ? expiredToken(request, error, semantics.after) : error;
      });
  let reading = read();
  for (;;) {
    const page = await reading;
    at = page.resourceVersion;
    after = page.items.at(-1)?.key ?? after;
    left -= page.items.length;
    if (page.more && after !== undefined && left > 0) {
      pageSize = Math.min(services.options.listPageSize, nextPageSize(page));
      // The database works on the next page while this one is sent.
      reading = read();
      reading.catch(() => undefined);
      yield { items: page.items, metadata: undefined, forms: page.forms };
      continue;
    }
    const rest = page.more ? after : undefined;
    const metadata: ListMetadata = {
      resourceVersion: String(at),
      ...(rest === undefined
        ? {}
        : { continue: services.continueTokens.encode(listQuery(request), { version: at, after: rest }) }),
      ...(rest === undefined || page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    };
    yield { items: page.items, metadata, forms: page.forms };
    return;
  }
}

/**
 * Adds a new token to the error for an expired one. It continues from the same key, at the newest version at that time.
 */
function expiredToken(request: ResourceRequest, error: unknown, after: ListPosition): unknown {
  if (!(error instanceof StatusError) || error.reason !== 'Expired') return error;
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const token = request.services.continueTokens.encode(listQuery(request), { version: undefined, after });
  return expiredError(message, token);
}
