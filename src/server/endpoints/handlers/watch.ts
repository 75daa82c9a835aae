import { createHash } from 'node:crypto';
import { fieldSelectorBytes } from '../../../base/machinery/field-selector.js';
import { selectorBytes } from '../../../base/machinery/label-selector.js';
import { longPieces, selectorTurn } from '../../../base/machinery/pieces-in-turn.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError, StatusError } from '../../../base/machinery/status-error.js';
import { tenantOf } from '../../../base/machinery/tenant-of.js';
import type { WatchSeries } from '../../../base/observability/watch-metrics.js';
import { remoteConversionOf } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { parseResourceVersion } from '../../../objects/registry/store/object-codec.js';
import { convertedTexts } from '../../../objects/registry/store/remote-conversion.js';
import {
  parseSelectors,
  type Selection,
  selectionOf,
  selectsConverted,
  storedSelection,
} from '../../../objects/registry/store/selection.js';
import type { Store } from '../../../objects/registry/store/store.js';
import { toStatusError } from '../../../objects/registry/store/to-status-error.js';
import {
  type ChangeSubscription,
  type ListPage,
  type ListPosition,
  plainObject,
  type StoredObject,
} from '../../../storage/storage.interface.js';
import type { EndpointServices } from '../endpoint-services.js';
import { type AcceptedType, cborSequenceType, streamParameter } from '../negotiation/accept.js';
import { blockBytes } from '../negotiation/answer-blocks.js';
import { negotiateWatch } from '../negotiation/answer-form.js';
import { checkNumbers, parseTimeoutSeconds } from '../negotiation/list-options.js';
import { checkListRules, checkWatchRules } from '../negotiation/list-rules.js';
import { includeObjectOf } from '../negotiation/transform.js';
import { isTrue } from '../request-info/request-info.js';
import { type ResourceRequest, requestLabels } from '../resource-request.js';
import { wantsWebSocket } from '../web-sockets.js';
import { EventStream, type WatchStream } from './event-stream.js';
import { WatchEncoder } from './watch-encoder.js';
import { WatchEnding } from './watch-ending.js';
import { WatchPump } from './watch-pump.js';
import { WebSocketStream } from './web-socket-stream.js';

/** Approximate size of the pieces in which initial events are written, in bytes: usual events fit in one block with them. */
const initialBytes = blockBytes - 8 * 1024;

interface WatchOptions {
  /**
   * The version after which changes are sent. Undefined: the version of the initial state if one is sent, otherwise the
   * newest.
   */
  readonly from: bigint | undefined;
  /** Whether existing objects are sent first, as ADDED. */
  readonly sendsInitialEvents: boolean;
  /** The oldest acceptable version of the initial state; undefined: the state must not be older than the request. */
  readonly notOlderThan: bigint | undefined;
  /** Whether a bookmark marks the end of the initial events. */
  readonly announcesInitialEnd: boolean;
  readonly bookmarks: boolean;
  /** The time limit of the whole request, including the initial events. */
  readonly timeoutMs: number;
}

/** GET with `watch`: a stream of events. The server ends it after a time, without an error (specification 6.1). */
export async function handleWatch(request: ResourceRequest): Promise<void> {
  const { services, context, resource, store, reply } = request;
  const isWebSocket = wantsWebSocket(reply.raw);
  const accepted = negotiateWatch(request);
  // A watch has no pages, but a limit that is not a number is still a mistake.
  checkNumbers(context, services);
  const startedAt = performance.now();
  context.memoryShare?.add(fieldSelectorBytes(context.query.get('fieldSelector') ?? ''));
  const turn = selectorTurn(context);
  if (turn !== undefined) await turn;
  const selectors = parseSelectors(context.query);
  checkRules(services, context);
  const parsed = selectionOf(resource, selectors);
  const options = parseWatchOptions(services, context);
  const endsAt = startedAt + options.timeoutMs;
  const selection = request.name === '' ? parsed : withName(parsed, request.name);
  const name = request.name !== '' ? request.name : selection.name;
  const namespace = request.namespace === '' ? undefined : request.namespace;
  const include = accepted.as === 'Table' ? includeObjectOf(context.query) : 'Metadata';
  context.memoryShare?.add(selectorBytes(parsed.labels));
  const encoder = new WatchEncoder(services, resource, parsed, selectionKey(context.query), accepted, include);

  const open = (): WatchStream =>
    isWebSocket
      ? new WebSocketStream(reply, accepted.mediaType, services.throttle)
      : new EventStream(context, reply, streamType(accepted), services.throttle);
  if (options.timeoutMs === 0) {
    open().end();
    return;
  }

  const query = {
    namespace,
    name,
    pageSize: services.options.listPageSize,
    select: storedSelection(selection),
  };
  const begin = async () => {
    const state = options.sendsInitialEvents
      ? await store.list({ ...query, notOlderThan: options.notOlderThan })
      : undefined;
    const from = state?.resourceVersion ?? options.from ?? (await store.head());
    if (state === undefined && options.from !== undefined) await store.checkDefined(from);
    const owner = context.user && tenantOf(context.user.name);
    return { state, from, subscription: await store.watch(namespace, name, from, query.select, owner) };
  };
  const begun = await begin().catch(async (error: unknown) => {
    if (!(error instanceof StatusError) || !isEvent(error, options)) throw error;
    services.metrics.watchEndedEarly(resource.definition, error.reason);
    const refused = open();
    await refused.write(encoder.encodeError(error.toStatus()))?.catch(() => undefined);
    refused.end();
    return undefined;
  });
  if (begun === undefined) return;

  const stream = open();
  const series = services.metrics.watchSeries(resource.definition, resource.served.version);
  const watch = { request, selection, encoder, stream, series, query, startedAt, endsAt };
  await sendWatch(watch, options, begun.state, begun.subscription, begun.from);
}

/**
 * Whether an error before the first event is sent as an event instead of an ordinary response: clients expect an event
 * if the version has expired and, in a watch that begins with a list, if the version is too large.
 */
function isEvent({ reason }: StatusError, { sendsInitialEvents }: WatchOptions): boolean {
  return reason === 'Expired' || (reason === 'Timeout' && sendsInitialEvents);
}

/** Sends the initial events, and then the changes of the subscription, until the watch ends. */
async function sendWatch(
  watch: OpenedWatch,
  options: WatchOptions,
  state: ListPage | undefined,
  subscription: ChangeSubscription,
  from: bigint,
): Promise<void> {
  const { request, encoder, stream, series, startedAt, endsAt } = watch;
  const { services, context, resource, store } = request;
  const ending = new WatchEnding(services.registry, resource, subscription);
  const labels = requestLabels(request);
  services.metrics.watchStarted(resource.definition, labels);
  subscription.onFailure(() => stream.cutIfBlocked());
  try {
    if (state !== undefined && !(await sendInitialEvents(watch, state))) return;
    if (options.announcesInitialEnd) stream.push(encoder.encodeBookmark(from, true));
    await stream.flush();
    if (state !== undefined) services.metrics.watchListDone(labels, (performance.now() - startedAt) / 1000);
    // From here on the watch needs hardly any CPU time or memory.
    context.seat?.leave();
    const sendsBookmarks = options.bookmarks;
    const timeoutMs = endsAt - performance.now();
    const pumped = { stream, series, subscription, ending, encoder, from, sendsBookmarks, timeoutMs };
    await new WatchPump(services, pumped).run();
  } catch (error) {
    const status = toStatusError(error, store.groupResource, '', from, 'watch');
    if (status instanceof StatusError) {
      services.metrics.watchEndedEarly(resource.definition, status.reason);
      await stream.write(encoder.encodeError(status.toStatus()))?.catch(() => undefined);
    } else if (!stream.isClosed) throw error;
  } finally {
    ending.stop();
    subscription.close();
    stream.end();
    services.metrics.watchEnded(resource.definition, labels);
  }
}

interface OpenedWatch {
  readonly request: ResourceRequest;
  readonly selection: Selection;
  readonly encoder: WatchEncoder;
  readonly stream: WatchStream;
  readonly series: WatchSeries;
  /** The query that lists the objects. */
  readonly query: Parameters<Store['list']>[0];
  /** Start of the request, by `performance.now`. */
  readonly startedAt: number;
  /** End of the watch, by `performance.now`. */
  readonly endsAt: number;
}

/**
 * Sends the objects of a list as ADDED, page by page. Returns false when the time limit is reached or the client has
 * left.
 */
async function sendInitialEvents(watch: OpenedWatch, first: ListPage): Promise<boolean> {
  const { request, selection, encoder, stream, series, query, endsAt } = watch;
  const { resource, store, context } = request;
  for (let page: ListPage | undefined = first; page !== undefined; ) {
    if (stream.isClosed) return false;
    let characters = 0;
    const items: readonly StoredObject[] = await initialObjects(resource, page.items, context.signal);
    for (const item of items) {
      if (selection.isOfConverted && !selectsConverted(selection, item)) continue;
      const text = encoder.initialText(item);
      if (text !== undefined) series.sent(stream.pushText(text));
      else {
        const event = encoder.encodeInitial(item, stream, items === page.items ? page.forms : undefined);
        const bytes = event instanceof Promise ? await event : event;
        stream.push(bytes);
        series.sent(bytes.length);
      }
      characters += item.json.length;
      if (stream.pendingBytes < initialBytes && characters < initialBytes) continue;
      await stream.flush();
      if (stream.isClosed || performance.now() >= endsAt) return false;
      characters = 0;
      // With a fast client this loop never waits, and encoding blocks the event loop.
      await longPieces.turn(tenantOf(context.user?.name ?? ''));
    }
    const after: ListPosition | undefined = page.items.at(-1)?.key;
    const at = first.resourceVersion;
    page = page.more && after !== undefined ? await store.list({ ...query, at, after }) : undefined;
  }
  return true;
}

/** The objects of a page in the requested version; unchanged if no conversion webhook is involved. */
async function initialObjects(
  resource: ServedResource,
  items: readonly StoredObject[],
  signal: AbortSignal,
): Promise<readonly StoredObject[]> {
  if (remoteConversionOf(resource.definition) === undefined) return items;
  return (await convertedTexts(resource, items.map(plainObject), { signal })) ?? items;
}

/** Maximum length of a key in characters; longer keys are replaced by their hash. */
const longestKey = 256;

/** A key that is equal for watches with the same selectors. */
function selectionKey(query: URLSearchParams): string {
  // Valid label selectors contain no zero character, so different selectors have different keys.
  const key = `${query.get('labelSelector') ?? ''}\0${query.get('fieldSelector') ?? ''}`;
  return key.length > longestKey ? createHash('sha256').update(key).digest('base64') : key;
}

/** Restricts a watch of one object to that name; its own selectors still apply. */
function withName(selection: Selection, name: string): Selection {
  if (selection.name !== undefined && selection.name !== name) {
    throw badRequestError(
      `fieldSelector metadata.name=${selection.name} does not match the name of the path (${name})`,
    );
  }
  return selection;
}

/** Content-Type of the stream. JSON streams have no `stream` parameter. */
function streamType(accepted: AcceptedType): string {
  switch (accepted.mediaType) {
    case 'protobuf':
      return `${accepted.contentType}${streamParameter}`;
    case 'cbor':
      return cborSequenceType;
    default:
      return accepted.contentType;
  }
}

function checkRules({ features, names }: EndpointServices, { query }: RequestContext): void {
  // The old paths with the verb are checked as lists unless they ask for a watch as well.
  if (isTrue(query.get('watch'))) checkWatchRules(query, names, features.isOn('WatchList'));
  else checkListRules(query, names);
}

function parseWatchOptions(services: EndpointServices, context: RequestContext): WatchOptions {
  const { query } = context;
  const initial = query.get('sendInitialEvents');
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const hasWatchList = services.features.isOn('WatchList');
  const versionText = query.get('resourceVersion') ?? '';
  const version = parseResourceVersion(versionText);
  // Clients that don't know this parameter expect the initial state when they name no version.
  const sendsInitialEvents = initial === null ? version === undefined : isTrue(initial);
  return {
    from: version,
    sendsInitialEvents,
    notOlderThan: version ?? (/^0+$/.test(versionText) ? 0n : undefined),
    announcesInitialEnd: hasWatchList && sendsInitialEvents && bookmarks,
    bookmarks,
    timeoutMs: timeoutOf(services, query.get('timeoutSeconds')),
  };
}

function timeoutOf(services: EndpointServices, text: string | null): number {
  const seconds = parseTimeoutSeconds(text);
  // A negative timeout has passed before the watch begins; a very long one would overflow the timer and fire at once.
  if (seconds !== undefined) return Math.max(0, Math.min(seconds * 1000, 2_000_000_000));
  // Randomizes the end, so that clients whose watches were opened together do not all reconnect together.
  return Math.round(services.options.minRequestTimeoutSeconds * 1000 * (1 + services.random()));
}
