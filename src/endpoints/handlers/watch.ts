import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import { type FieldError, FieldPath, forbidden } from '../../machinery/field-error.js';
import type { RequestContext } from '../../machinery/request-context.js';
import {
  badRequestError,
  invalidError,
  StatusError,
  tooLargeResourceVersionError,
} from '../../machinery/status-error.js';
import { toStatusError } from '../../registry/errors.js';
import { parseResourceVersion, parseText } from '../../registry/object-codec.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { parseSelection, type Selection } from '../../registry/selection.js';
import type { ChangeSubscription, StoredObject } from '../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { formatWarning } from '../negotiation/respond.js';
import { includeObjectOf } from '../negotiation/transform.js';
import { isTrue } from '../request-info/request-info.js';
import type { RequestScope } from '../request-scope.js';
import type { EndpointServices } from '../services.js';
import { WatchEncoder } from './watch-encoder.js';

const bookmarkIntervalMs = 60_000;
/** A last bookmark goes out this long before the end, so that a client can resume without a gap. */
const bookmarkBeforeEndMs = 2_000;

interface WatchOptions {
  /** Undefined: start with the state at the newest version. */
  readonly from: bigint | undefined;
  readonly sendInitialEvents: boolean;
  /** The end of the initial events is announced by a bookmark. */
  readonly announcesInitialEnd: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

/** GET with `watch`: a stream of events, ended by the server after a time, without an error (specification 6.1). */
export async function handleWatch(
  services: EndpointServices,
  context: RequestContext,
  scope: RequestScope,
  acceptHeader: string | undefined,
  reply: FastifyReply,
): Promise<void> {
  const accepted = services.accept.negotiate(watchAccept(acceptHeader), true);
  const { resource } = scope;
  const options = parseWatchOptions(services, context);
  const parsed = parseSelection(resource.definition, context.query);
  const selection = scope.name === '' ? parsed : withName(parsed, scope.name);
  const name = scope.name !== '' ? scope.name : selection.name;
  const namespace = scope.namespace === '' ? undefined : scope.namespace;
  const include = accepted.as === 'Table' ? includeObjectOf(context.query) : 'Metadata';
  const encoder = new WatchEncoder(services, resource, parsed, accepted, include);
  const store = services.storeOf(resource);

  // Everything that can fail before the first event is answered as an ordinary error.
  const needsState = options.from === undefined || options.sendInitialEvents;
  const pageSize = services.options.listPageSize;
  const state = needsState ? await store.list({ namespace, name, limit: pageSize }) : undefined;
  const from = state?.resourceVersion ?? (options.from as bigint);
  if (state !== undefined && options.from !== undefined && options.from > from) {
    throw tooLargeResourceVersionError(options.from, from);
  }
  const subscription = await store.watch(namespace, name, from);

  const stream = new EventStream(context, reply, streamType(accepted));
  services.metrics.watchStarted(resource.definition);
  try {
    if (state !== undefined && (options.sendInitialEvents || options.from === undefined)) {
      let page = state;
      for (;;) {
        for (const item of page.items)
          if (isSelected(resource, parsed, item)) await stream.write(encoder.encodeInitial(item));
        const last = page.items.at(-1);
        if (!page.more || last === undefined) break;
        const after = { namespace: last.key.namespace, name: last.key.name };
        page = await store.list({ namespace, name, at: from, after, limit: pageSize });
      }
      if (options.announcesInitialEnd) await stream.write(encoder.encodeBookmark(from, true));
    }
    await pump(stream, subscription, encoder, options, from, services.options.shutdown);
  } catch (error) {
    const status = toStatusError(error, store.groupResource, '', from);
    if (status instanceof StatusError && !stream.isClosed) {
      services.metrics.watchEndedEarly(resource.definition, status.reason);
      await stream.write(encoder.encodeError(status.toStatus())).catch(() => undefined);
    } else if (!stream.isClosed) throw error;
  } finally {
    subscription.close();
    stream.end();
    services.metrics.watchEnded(resource.definition);
  }
}

/** Sends changes until the time is over, the client leaves, or the subscription ends. */
async function pump(
  stream: EventStream,
  subscription: ChangeSubscription,
  encoder: WatchEncoder,
  options: WatchOptions,
  from: bigint,
  shutdown: AbortSignal,
): Promise<void> {
  let position = from;
  let announced = from;
  const bookmark = () => {
    if (!options.bookmarks || position <= announced) return;
    announced = position;
    void stream.write(encoder.encodeBookmark(position, false)).catch(() => undefined);
  };
  const timers = [
    setTimeout(() => subscription.close(), options.timeoutMs),
    setTimeout(bookmark, Math.max(0, options.timeoutMs - bookmarkBeforeEndMs)),
    setInterval(bookmark, bookmarkIntervalMs),
  ];
  const leave = () => subscription.close();
  stream.onClose(leave);
  if (shutdown.aborted) leave();
  else shutdown.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      const batch = await subscription.next();
      if (batch === undefined) return;
      for (const change of batch.changes) {
        const bytes = encoder.encodeChange(change);
        if (bytes !== undefined) stream.push(bytes);
      }
      await stream.flush();
      position = batch.position;
    }
  } finally {
    for (const timer of timers) clearTimeout(timer);
    shutdown.removeEventListener('abort', leave);
  }
}

function isSelected(resource: ServedResource, selection: Selection, item: StoredObject): boolean {
  return selection.selectsAll || selection.matches(parseText(resource, item.json));
}

/** A watch of one named object sees that object only; its own selectors still apply. */
function withName(selection: Selection, name: string): Selection {
  if (selection.name !== undefined && selection.name !== name) {
    throw badRequestError(
      `fieldSelector metadata.name=${selection.name} does not match the name of the path (${name})`,
    );
  }
  return selection;
}

/** Clients ask for `application/json;stream=watch` and the like; the parameter says nothing new. */
function watchAccept(header: string | undefined): string | undefined {
  return header?.replaceAll(';stream=watch', '');
}

/** Content-Type of the stream: only events in JSON stand without a mark. */
function streamType(accepted: AcceptedType): string {
  return accepted.mediaType === 'protobuf' ? `${accepted.contentType};stream=watch` : 'application/json';
}

function parseWatchOptions(services: EndpointServices, context: RequestContext): WatchOptions {
  const { query } = context;
  const version = parseResourceVersion(query.get('resourceVersion') ?? undefined);
  const match = query.get('resourceVersionMatch') ?? '';
  const initial = query.get('sendInitialEvents');
  const bookmarks = isTrue(query.get('allowWatchBookmarks'));
  const errors: FieldError[] = [];
  if (initial !== null && match !== 'NotOlderThan') {
    const detail = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    errors.push(forbidden(FieldPath.of('resourceVersionMatch'), detail));
  }
  if (initial === null && match !== '') {
    const detail = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
    errors.push(forbidden(FieldPath.of('resourceVersionMatch'), detail));
  }
  if (errors.length > 0) {
    throw invalidError({ group: `meta.${services.names.suffix}`, kind: 'ListOptions' }, '', errors);
  }
  const asksInitial = initial !== null && isTrue(initial);
  return {
    from: version,
    sendInitialEvents: asksInitial || (initial === null && version === undefined),
    announcesInitialEnd: asksInitial && bookmarks,
    bookmarks,
    timeoutMs: timeoutOf(services, query.get('timeoutSeconds')),
  };
}

function timeoutOf(services: EndpointServices, text: string | null): number {
  if (text !== null && text !== '') {
    if (!/^\d{1,9}$/.test(text))
      throw badRequestError(`timeoutSeconds: parsing ${JSON.stringify(text)}: invalid syntax`);
    const seconds = Number(text);
    // Longer than a timer can hold would fire at once.
    if (seconds > 0) return Math.min(seconds * 1000, 2_000_000_000);
  }
  // Spread, so that many watches opened together do not all come back together.
  return Math.round(services.options.minRequestTimeoutSeconds * 1000 * (1 + Math.random()));
}

/** The response of a watch: raw bytes, one write per batch, waiting for a client that reads slowly. */
class EventStream {
  private readonly raw: FastifyReply['raw'];
  private pending: Buffer[] = [];
  private closed = false;

  constructor(context: RequestContext, reply: FastifyReply, contentType: string) {
    reply.hijack();
    this.raw = reply.raw;
    this.raw.once('close', () => {
      this.closed = true;
    });
    if (context.warnings.length > 0) this.raw.setHeader('warning', context.warnings.map(formatWarning));
    this.raw.setHeader('content-type', contentType);
    this.raw.setHeader('cache-control', 'no-cache, private');
    this.raw.writeHead(200);
    // Headers go out now: the client knows that the watch stands before anything happens.
    this.raw.flushHeaders?.();
  }

  get isClosed(): boolean {
    return this.closed || this.raw.destroyed === true;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.raw.once('close', listener);
  }

  push(bytes: Buffer): void {
    this.pending.push(bytes);
  }

  async flush(): Promise<void> {
    if (this.pending.length === 0) return;
    const bytes = this.pending.length === 1 ? (this.pending[0] as Buffer) : Buffer.concat(this.pending);
    this.pending = [];
    await this.write(bytes);
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.isClosed) return;
    const raw = this.raw as NodeJS.WritableStream & { once: NodeJS.EventEmitter['once'] };
    if (raw.write(bytes)) return;
    await Promise.race([once(raw as NodeJS.EventEmitter, 'drain'), once(raw as NodeJS.EventEmitter, 'close')]);
  }

  end(): void {
    if (!this.isClosed) this.raw.end();
  }
}
