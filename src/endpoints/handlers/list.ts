import type { FastifyReply } from 'fastify';
import type { RequestContext } from '../../machinery/request-context.js';
import { expiredError, StatusError } from '../../machinery/status-error.js';
import { parseText, spliceListItem, storedForm } from '../../registry/object-codec.js';
import { parseSelection, type Selection } from '../../registry/selection.js';
import type { Store } from '../../registry/store.js';
import type { ListPosition, StoredObject } from '../../storage/storage.interface.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import { encodeContinue, type ListOptions, parseListOptions } from '../negotiation/list-options.js';
import { sendPieces, sendsStoredText, sendText, servedObject } from '../negotiation/respond.js';
import type { ListMetadata } from '../negotiation/transform.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { listKind, listWriter } from './list-writer.js';
import { waitForVersion } from './wait-for-version.js';

/** One consistent set of objects, read page by page. */
interface Snapshot {
  readonly resourceVersion: bigint;
  /** Selected objects in pieces; the last piece tells what lies behind. */
  readonly pieces: AsyncGenerator<Piece>;
}

interface Piece {
  readonly items: readonly StoredObject[];
  /** Set on the last piece when the limit cut the list. */
  readonly rest?: { readonly after: ListPosition; readonly remaining: number | undefined } | undefined;
}

/** GET of a collection (specification 4.3, 4.4). */
export async function handleList(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  acceptHeader: string | undefined,
  reply: FastifyReply,
): Promise<void> {
  const accepted = services.accept.negotiate(acceptHeader, true);
  const selection = parseSelection(scope.resource.definition, context.query);
  const options = parseListOptions(context, services.names);
  const store = services.storeOf(scope.resource);
  const snapshot = await openSnapshot(services, context, scope, store, selection, options);
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (sendsStoredText(accepted, scope.resource, pretty)) {
    await sendStoredList(context, scope, snapshot, reply);
    return;
  }
  await sendTransformedList(services, context, scope, snapshot, accepted, reply);
}

async function openSnapshot(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  store: Store,
  selection: Selection,
  options: ListOptions,
): Promise<Snapshot> {
  const { semantics, limit } = options;
  if (semantics.kind === 'notOlderThan') await waitForVersion(store, semantics.version, context.signal);
  const at = semantics.kind === 'exact' || semantics.kind === 'continue' ? semantics.version : undefined;
  const after = semantics.kind === 'continue' ? semantics.after : undefined;
  const query = { namespace: scope.namespace === '' ? undefined : scope.namespace, name: selection.name };
  const pageSize = services.options.listPageSize;
  const firstSize = limit > 0 && selection.selectsAll ? Math.min(limit, pageSize) : pageSize;
  const first = await store
    .list({ ...query, at, after, limit: firstSize, countRemaining: limit > 0 && selection.selectsAll })
    .catch((error: unknown) => {
      throw semantics.kind === 'continue' ? expiredToken(error, semantics.after) : error;
    });

  async function* pieces(): AsyncGenerator<Piece> {
    let page = first;
    let taken = 0;
    for (;;) {
      const items: StoredObject[] = [];
      for (let i = 0; i < page.items.length; i++) {
        const item = page.items[i] as StoredObject;
        if (!selection.selectsAll && !selection.matches(parseText(scope.resource, item.json))) continue;
        items.push(item);
        taken++;
        const isLast = i === page.items.length - 1 && !page.more;
        if (limit > 0 && taken === limit && !isLast) {
          const remaining = remainingAfter(page, i, selection);
          yield { items, rest: { after: { namespace: item.key.namespace, name: item.key.name }, remaining } };
          return;
        }
      }
      yield { items };
      const last = page.items.at(-1);
      if (!page.more || last === undefined) return;
      const next = { namespace: last.key.namespace, name: last.key.name };
      const size = limit > 0 && selection.selectsAll ? Math.min(limit - taken, pageSize) : pageSize;
      page = await store.list({
        ...query,
        at: first.resourceVersion,
        after: next,
        limit: size,
        countRemaining: limit > 0 && selection.selectsAll,
      });
    }
  }
  return { resourceVersion: first.resourceVersion, pieces: pieces() };
}

function remainingAfter(
  page: { readonly items: readonly StoredObject[]; readonly remaining?: number | undefined },
  index: number,
  selection: Selection,
): number | undefined {
  if (!selection.selectsAll || page.remaining === undefined) return undefined;
  return page.items.length - 1 - index + page.remaining;
}

/** An expired token is answered with a new one that goes on from the same key, at whatever version is newest then. */
function expiredToken(error: unknown, after: ListPosition): unknown {
  if (!(error instanceof StatusError) || error.reason !== 'Expired') return error;
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  return expiredError(message, encodeContinue(undefined, after));
}

function listMetadata(snapshot: Snapshot, rest: Piece['rest']): ListMetadata {
  return {
    resourceVersion: String(snapshot.resourceVersion),
    ...(rest === undefined ? {} : { continue: encodeContinue(snapshot.resourceVersion, rest.after) }),
    ...(rest?.remaining === undefined ? {} : { remainingItemCount: rest.remaining }),
  };
}

/** Stored text, item after item, without parsing. One piece is sent at once, more are streamed with back-pressure. */
async function sendStoredList(
  context: RequestContext,
  scope: RequestScope,
  snapshot: Snapshot,
  reply: FastifyReply,
): Promise<void> {
  const form = storedForm(scope.resource);
  const head = `{"kind":${JSON.stringify(listKind(scope))},"apiVersion":${JSON.stringify(scope.resource.apiVersion)}`;
  const encode = (piece: Piece) => piece.items.map((item) => spliceListItem(item, form)).join(',');
  const first = (await snapshot.pieces.next()).value as Piece;
  const second = await snapshot.pieces.next();
  if (second.done === true) {
    const metadata = JSON.stringify(listMetadata(snapshot, first.rest));
    sendText(context, reply, 200, 'application/json', `${head},"metadata":${metadata},"items":[${encode(first)}]}`);
    return;
  }
  async function* body(): AsyncGenerator<string> {
    yield `${head},"items":[${encode(first)}`;
    let hasItems = first.items.length > 0;
    let piece = second.value as Piece;
    for (;;) {
      if (piece.items.length > 0) {
        yield (hasItems ? ',' : '') + encode(piece);
        hasItems = true;
      }
      const next = await snapshot.pieces.next();
      if (next.done === true) break;
      piece = next.value;
    }
    yield `],"metadata":${JSON.stringify(listMetadata(snapshot, piece.rest))}}`;
  }
  await sendPieces(context, reply, 200, 'application/json', body());
}

async function sendTransformedList(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  snapshot: Snapshot,
  accepted: AcceptedType,
  reply: FastifyReply,
): Promise<void> {
  const writer = listWriter(services, context, scope, accepted);
  let rest: Piece['rest'];
  for await (const piece of snapshot.pieces) {
    writer.add(piece.items.map((item) => servedObject(scope.resource, item)));
    rest = piece.rest;
  }
  await writer.send(listMetadata(snapshot, rest), reply);
}
