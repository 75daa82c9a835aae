import { largeLimits, throwIfLarge, throwIfLong } from '../../../base/machinery/large-work.js';
import { longPieces, selectorTurn } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import { remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { type ItemText, listItemText, storedForm } from '../../../objects/registry/store/object-codec.js';
import { parseSelectors, selectionOf } from '../../../objects/registry/store/selection.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import { type AcceptedType, wantsPretty } from '../negotiation/accept.js';
import { negotiateList } from '../negotiation/answer-form.js';
import { BlockText } from '../negotiation/block-text.js';
import { checkNumbers, parseListOptions } from '../negotiation/list-options.js';
import { checkListRules } from '../negotiation/list-rules.js';
import { sendBlocks, sendPieces, sendsStoredText, sendText } from '../negotiation/respond.js';
import type { ListMetadata } from '../negotiation/transform.js';
import type { ResourceRequest } from '../resource-request.js';
import { convertedPages, listScope, type Page, pageOfRows, readPages } from './list-pages.js';
import { isWrittenWhole, listWriter } from './list-writer.js';
import { sendPackedForm, sendPackedJson, storedListHead, wantsPackedList } from './packed-list.js';

/** Lists with fewer characters are joined and sent as one string. */
const shortCharacters = 64 * 1024;
/**
 * Lists with fewer characters are sent without yielding: that takes less than a millisecond, and yielding would delay
 * the client. Longer lists are held in memory piece by piece, and keep the seat of their request until they are read.
 */
const wholeCharacters = 512 * 1024;
/** The byte of a line break, which JSON has nowhere else than between values. */
const newline = 0x0a;
/** Number of characters of stored JSON to transform before yielding to other requests. */
const transformedAtOnce = 128 * 1024;

/** GET of a collection (specification 4.3, 4.4). */
export async function handleList(request: ResourceRequest): Promise<void> {
  const { services, context, resource } = request;
  const accepted = negotiateList(request);
  checkNumbers(context, services);
  const turn = selectorTurn(context);
  if (turn !== undefined) await turn;
  const selectors = parseSelectors(context.query);
  checkListRules(context.query, services.names);
  const selection = selectionOf(resource, selectors);
  const options = parseListOptions(context, services, listScope(request));
  // Plain lists of custom kinds have the field for the next page whether they have pages or not.
  const endsPages = accepted.as === undefined && resource.served.type.custom !== undefined;
  const stored = readPages(request, selection, options, endsPages);
  const isRemote = remoteConversionOf(resource.definition) !== undefined;
  const served = isRemote && !selection.isOfConverted ? convertedPages(request, stored) : stored;
  const pages = accepted.as === 'Table' ? pageOfRows(request, served) : served;
  const first = (await pages.next()).value as Page;
  const pretty = accepted.pretty || wantsPretty(context.query, context.userAgent);
  const isStored = sendsStoredText(accepted, resource, pretty);
  if (isStored && wantsPackedList(request, first)) {
    await sendPackedJson(request, first, pages);
    return;
  }
  if (isPackedForm(resource, accepted, pretty) && wantsPackedList(request, first)) {
    const all = [first];
    for await (const page of pages) all.push(page);
    if (await sendPackedForm(request, accepted, all)) return;
    await sendTransformedList(request, first, all.slice(1), accepted);
    return;
  }
  if (isStored) {
    await sendStoredList(request, first, pages);
    return;
  }
  await sendTransformedList(request, first, pages, accepted);
}

/** Whether lists in this form, other than stored JSON, are put together of runs. */
function isPackedForm({ isStored }: ServedResource, { mediaType, as }: AcceptedType, pretty: boolean): boolean {
  if (mediaType === 'protobuf') return as === undefined;
  return mediaType === 'json' && as === 'Table' && isStored && !pretty;
}

/**
 * Sends stored JSON, item by item, without parsing. Short lists are sent at once, others in pieces with back-pressure.
 * `metadata` comes first if the first page contains it.
 */
async function sendStoredList(request: ResourceRequest, first: Page, others: AsyncGenerator<Page>): Promise<void> {
  const { resource } = request;
  const head = storedListHead(resource);
  const form = storedForm(resource);
  const { metadata } = first;
  const characters = first.items.reduce((sum, { json }) => sum + json.length, 0);
  if (metadata !== undefined && characters < shortCharacters) {
    const items = first.items.map((item) => joined(listItemText(item, form))).join(',');
    const text = `${head},"metadata":${JSON.stringify(metadata)},"items":[${items}]}`;
    request.context.audit?.answeredText(200, text);
    sendText(request, 200, 'application/json', `${text}\n`);
    return;
  }
  const text = new BlockText();
  function* add(added: string): Generator<Buffer> {
    if (!text.append(added)) yield* text.appendBehind(added);
  }
  function* encode(items: readonly StoredObject[], isFirst: boolean): Generator<Buffer> {
    let separator = isFirst ? '' : ',';
    for (const item of items) {
      const { head: start, rest } = listItemText(item, form);
      // Avoids the nested generator wherever possible, since there may be very many items.
      if (!text.append(separator + start)) yield* text.appendBehind(separator + start);
      if (!text.append(rest)) yield* text.appendBehind(rest);
      separator = ',';
    }
  }
  function* onePage(): Generator<Buffer> {
    yield* add(`${head},"metadata":${JSON.stringify(metadata)},"items":[`);
    yield* encode(first.items, true);
    yield* add(']}\n');
    yield* text.rest();
  }
  async function* body(): AsyncGenerator<Buffer> {
    if (metadata !== undefined) {
      yield* inTurns(request, onePage());
      return;
    }
    yield* add(`${head},"items":[`);
    yield* inTurns(request, encode(first.items, true));
    let last: ListMetadata | undefined;
    for await (const page of others) {
      // Only the last page may be empty, so an item precedes this page.
      yield* inTurns(request, encode(page.items, false));
      last = page.metadata;
    }
    yield* add(`],"metadata":${JSON.stringify(last)}}\n`);
    yield* text.rest();
  }
  const { audit } = request.context;
  if (metadata !== undefined && characters < wholeCharacters && audit?.wantsResponseObject !== true) {
    sendBlocks(request, 200, 'application/json', [...onePage()]);
    return;
  }
  await sendPieces(request, 200, 'application/json', noted(request.context, body()));
}

function joined({ head, rest }: ItemText): string {
  return head + rest;
}

/** Yields to other requests after each piece. */
async function* inTurns({ context }: ResourceRequest, pieces: Iterable<Buffer>): AsyncGenerator<Buffer> {
  const tenant = tenantOf(context.user?.name ?? '');
  for (const piece of pieces) {
    yield piece;
    await longPieces.turn(tenant);
  }
}

/** Passes the JSON pieces to the audit trail too, if the response is recorded. */
function noted({ audit }: RequestContext, pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (audit?.wantsResponseObject !== true) return pieces;
  return (async function* () {
    for await (const piece of pieces) {
      // Pieces end between items, so never within a character. The newline at the end is none of the object.
      audit.answeredPiece(200, piece.toString('utf8', 0, piece.length - (piece.at(-1) === newline ? 1 : 0)));
      yield piece;
    }
    audit.answeredAll();
  })();
}

async function sendTransformedList(
  request: ResourceRequest,
  first: Page,
  others: AsyncIterable<Page> | Iterable<Page>,
  accepted: AcceptedType,
): Promise<void> {
  const { context } = request;
  const writer = listWriter(request, accepted);
  const isWhole = isWrittenWhole(context, accepted);
  let whole = 0;
  let characters = 0;
  const add = async ({ items, forms }: Page) => {
    for (const item of items) {
      if (item.json.length > largeLimits.listItem) throwIfLarge(context, item.json);
      whole += item.json.length;
      if (isWhole && whole > largeLimits.wholeList) throwIfLong(context, whole);
      characters += writer.addStored(item, forms);
      if (characters < transformedAtOnce) continue;
      characters = 0;
      // Parsing blocks the event loop, so other requests get their turn.
      await longPieces.turn(tenantOf(context.user?.name ?? ''));
    }
  };
  await add(first);
  let { metadata } = first;
  for await (const page of others) {
    await add(page);
    metadata = page.metadata;
  }
  await writer.send(metadata as ListMetadata);
}
