import { setImmediate } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { RequestContext } from '../../machinery/request-context.js';
import { expiredError, StatusError } from '../../machinery/status-error.js';
import { spliceListItem, storedForm } from '../../registry/object-codec.js';
import { parseSelection, type Selection } from '../../registry/selection.js';
import type { ListPosition, StoredObject } from '../../storage/storage.interface.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import type { ContinueQuery } from '../negotiation/continue-token.js';
import { type ListOptions, parseListOptions } from '../negotiation/list-options.js';
import { sendPieces, sendsStoredText, sendText, servedObject } from '../negotiation/respond.js';
import type { ListMetadata } from '../negotiation/transform.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { listKind, listWriter } from './list-writer.js';

/** Characters of list items that are joined and handed on together. */
const pieceCharacters = 256 * 1024;
const transformedAtOnce = 250;

/** A part of one consistent list. */
interface Page {
  readonly items: readonly StoredObject[];
  /** Set when this is the last page: what the list says about itself. */
  readonly metadata: ListMetadata | undefined;
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
  const selection = parseSelection(scope.resource, context.query);
  const options = parseListOptions(context, services.names, services.continueTokens, listIdentity(context, scope));
  const pages = readPages(services, context, scope, selection, options);
  const first = (await pages.next()).value as Page;
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  if (sendsStoredText(accepted, scope.resource, pretty)) {
    await sendStoredList(context, scope, first, pages, reply);
    return;
  }
  await sendTransformedList(services, context, scope, first, pages, accepted, reply);
}

/** What a continue token is bound to. */
function listIdentity({ query }: RequestContext, { resource, namespace }: RequestScope): ContinueQuery {
  const { group, resource: plural } = resource.definition;
  return {
    group,
    resource: plural,
    namespace,
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
  };
}

/** The pages of one list, all at the version of the first; at least one. */
async function* readPages(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  selection: Selection,
  { semantics, limit }: ListOptions,
): AsyncGenerator<Page> {
  const store = services.storeOf(scope.resource);
  const countRemaining = limit > 0 && selection.selectsAll;
  let left = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  let at = semantics.kind === 'exact' || semantics.kind === 'continue' ? semantics.version : undefined;
  let after = semantics.kind === 'continue' ? semantics.after : undefined;
  for (;;) {
    const page = await store
      .list({
        namespace: scope.namespace === '' ? undefined : scope.namespace,
        name: selection.name,
        at,
        notOlderThan: semantics.kind === 'notOlderThan' ? semantics.version : undefined,
        after,
        limit: limit > 0 ? left : undefined,
        pageSize: services.options.listPageSize,
        select: selection.selectsAll ? undefined : selection,
        countRemaining,
      })
      .catch((error: unknown) => {
        throw semantics.kind === 'continue' ? expiredToken(services, context, scope, error, semantics.after) : error;
      });
    at = page.resourceVersion;
    after = page.items.at(-1)?.key ?? after;
    left -= page.items.length;
    if (page.more && after !== undefined && left > 0) {
      yield { items: page.items, metadata: undefined };
      continue;
    }
    const rest = page.more ? after : undefined;
    const metadata: ListMetadata = {
      resourceVersion: String(at),
      ...(rest === undefined
        ? {}
        : { continue: services.continueTokens.encode(listIdentity(context, scope), { version: at, after: rest }) }),
      ...(rest === undefined || page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    };
    yield { items: page.items, metadata };
    return;
  }
}

/** An expired token is answered with a new one that goes on from the same key, at whatever version is newest then. */
function expiredToken(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  error: unknown,
  after: ListPosition,
): unknown {
  if (!(error instanceof StatusError) || error.reason !== 'Expired') return error;
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const token = services.continueTokens.encode(listIdentity(context, scope), { version: undefined, after });
  return expiredError(message, token);
}

/**
 * Stored text, item after item, without parsing. Short lists go out in one write, others piece by piece with
 * back-pressure. `metadata` stands in front when it is known by then.
 */
async function sendStoredList(
  context: RequestContext,
  scope: RequestScope,
  first: Page,
  others: AsyncGenerator<Page>,
  reply: FastifyReply,
): Promise<void> {
  const head = `{"kind":${JSON.stringify(listKind(scope))},"apiVersion":${JSON.stringify(scope.resource.apiVersion)}`;
  const form = storedForm(scope.resource);
  function* encode(items: readonly StoredObject[], isFirst: boolean): Generator<string> {
    let text = '';
    for (let i = 0; i < items.length; i++) {
      const item = spliceListItem(items[i] as StoredObject, form);
      text += i === 0 && isFirst ? item : `,${item}`;
      if (text.length < pieceCharacters) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
  async function* body(): AsyncGenerator<string> {
    if (first.metadata !== undefined) {
      yield `${head},"metadata":${JSON.stringify(first.metadata)},"items":[`;
      yield* encode(first.items, true);
      yield ']}';
      return;
    }
    yield `${head},"items":[`;
    yield* encode(first.items, true);
    let metadata: ListMetadata | undefined;
    for await (const page of others) {
      // A page that is not the last has items, so something stands before this one.
      yield* encode(page.items, false);
      metadata = page.metadata;
    }
    yield `],"metadata":${JSON.stringify(metadata)}}`;
  }
  if (first.metadata !== undefined && first.items.reduce((sum, { json }) => sum + json.length, 0) < pieceCharacters) {
    const items = [...encode(first.items, true)].join('');
    const text = `${head},"metadata":${JSON.stringify(first.metadata)},"items":[${items}]}`;
    sendText(context, reply, 200, 'application/json', text);
    return;
  }
  await sendPieces(context, reply, 200, 'application/json', body());
}

async function sendTransformedList(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  first: Page,
  others: AsyncGenerator<Page>,
  accepted: AcceptedType,
  reply: FastifyReply,
): Promise<void> {
  const writer = listWriter(services, context, scope, accepted);
  const add = async ({ items }: Page) => {
    for (let i = 0; i < items.length; i += transformedAtOnce) {
      // Parsing holds the process up: others get their turn between.
      if (i > 0) await setImmediate();
      writer.add(items.slice(i, i + transformedAtOnce).map((item) => servedObject(scope.resource, item)));
    }
  };
  await add(first);
  let { metadata } = first;
  for await (const page of others) {
    await add(page);
    metadata = page.metadata;
  }
  await writer.send(metadata as ListMetadata, reply);
}
