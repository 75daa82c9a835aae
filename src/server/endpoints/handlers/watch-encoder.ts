import type { ApiObject } from '../../../base/machinery/api-object.js';
import { zeroValue } from '../../../base/machinery/schema/index.js';
import type { Status } from '../../../base/machinery/status-error.js';
import type { WatchSeries } from '../../../base/observability/watch-metrics.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { hasKindInLists } from '../../../objects/registry/store/object-codec.js';
import type { Selection } from '../../../objects/registry/store/selection.js';
import { attributesOfChange } from '../../../storage/change-attributes.js';
import { selects } from '../../../storage/selection-predicate.js';
import type { ByteRange, Change, KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { CborFrames } from '../negotiation/cbor-answer.js';
import type { IncludeObject } from '../negotiation/include-object.js';
import { itemForm, shownItem } from '../negotiation/item-form.js';
import { messageStart } from '../negotiation/protobuf-answer.js';
import { protobufCodec } from '../negotiation/protobuf-codec.js';
import { convertedChanges } from './converted-changes.js';
import { EncodedChanges } from './encoded-changes.js';
import type { WatchStream } from './event-stream.js';
import type { WatchEventType, WatchedText, WatchForm } from './watch-event.js';
import { encodeEvent, encodeObject, encodeWatched, isWork, watchedText } from './watch-form.js';

/** By event type and form; shared by all watchers of the process. */
const encodedChanges = new EncodedChanges(16 * 2 ** 20);

/** Encoded events of a batch, by form and selection: equal watches get the same bytes. */
const encodedBatches = new WeakMap<readonly Change[], Map<string, Buffer | undefined | Promise<Buffer | undefined>>>();

/**
 * Turns changes into the events of one watch. Determines the event type under the watch's selection (specification 6.1;
 * an object that starts or stops being selected is ADDED or DELETED) and encodes the event in the accepted form.
 */
export class WatchEncoder {
  private readonly formKey: string;
  private readonly batchKey: string;
  private readonly form: WatchForm;
  private tableHeadSent = false;
  private frames: InitialFrames | undefined;
  private wholeFrames: Map<WatchEventType, InitialFrames> | undefined;

  constructor(
    private readonly services: EndpointServices,
    private readonly resource: ServedResource,
    private readonly selection: Selection,
    selectionKey: string,
    accepted: AcceptedType,
    include: IncludeObject,
  ) {
    this.form = { accepted, include, withColumns: false };
    this.formKey = `${accepted.mediaType}/${resource.apiVersion}/${accepted.as ?? ''}/${accepted.asVersion ?? ''}/${include}`;
    this.batchKey = `${this.formKey}\n${selectionKey}`;
  }

  /** Like {@link encodeBatch}, after conversion by a webhook if there is one. */
  encodeConverted(changes: readonly Change[]): Buffer | undefined | Promise<Buffer | undefined> {
    const converting = convertedChanges(this.resource, changes);
    if (converting === undefined) return this.encodeBatch(changes);
    return converting.then((converted) => this.encodeBatch(converted));
  }

  /**
   * Encodes the events of a batch; undefined when the watch receives none of them. Subscribers of the same scope share
   * their batches, so most of them find the bytes ready.
   */
  encodeBatch(changes: readonly Change[]): Buffer | undefined | Promise<Buffer | undefined> {
    // The first event of a table watch is only for this watcher.
    if (this.form.accepted.as === 'Table' && !this.tableHeadSent) return this.encodeAll(changes);
    let forms = encodedBatches.get(changes);
    if (forms === undefined) {
      forms = new Map();
      encodedBatches.set(changes, forms);
    }
    if (forms.has(this.batchKey)) return forms.get(this.batchKey);
    const bytes = this.encodeAll(changes);
    remember(forms, this.batchKey, bytes);
    return bytes;
  }

  private encodeAll(changes: readonly Change[]): Buffer | undefined | Promise<Buffer | undefined> {
    const events: Buffer[] = [];
    for (let i = 0; i < changes.length; i++) {
      const event = this.encodeChange(changes[i] as Change);
      if (event instanceof Promise) return encodeRest(this, changes, events, event, i + 1);
      if (event !== undefined) events.push(event);
    }
    return joined(events);
  }

  /**
   * Encodes the event of a change; undefined when the watch does not receive it. Returns a promise for a large object.
   */
  encodeChange(change: Change): Buffer | undefined | Promise<Buffer> {
    const type = this.eventType(change);
    if (type === undefined) return undefined;
    // The first event of a table watch also contains the columns, so it is only for this watcher.
    const isFirstRow = this.form.accepted.as === 'Table' && !this.tableHeadSent;
    const key = `${type}/${this.formKey}`;
    const known = isFirstRow ? undefined : encodedChanges.get(change, key);
    if (known !== undefined) return known;
    // An object that left the selection is shown in its last selected state, at the version of the change.
    const left = type === 'DELETED' && change.type !== 'delete';
    const json = left ? (change.previousJson as string) : change.json;
    const bytes =
      this.encodeWhole(type, change, json) ?? this.encode(type, { json, resourceVersion: change.resourceVersion });
    if (!isFirstRow) encodedChanges.set(change, key, bytes);
    return bytes;
  }

  /**
   * Encodes a synthetic ADDED for an object that existed when the watch began, using a form cached in `forms` if there
   * is one. It may lie in room of `stream`.
   */
  encodeInitial(
    stored: StoredObject,
    stream: Pick<WatchStream, 'allocate'>,
    forms?: KeptForms,
  ): Buffer | Promise<Buffer> {
    const { accepted } = this.form;
    const isKept = accepted.mediaType !== 'json' && accepted.as !== 'Table' && forms !== undefined;
    if (!isKept || isWork(this.resource, this.form, stored.json)) {
      // Copies only these fields, since the object may be sent to the other thread.
      const { json, resourceVersion } = stored;
      return this.encode('ADDED', { json, resourceVersion });
    }
    const { services, resource } = this;
    this.frames ??= addedFrames(services, resource, accepted);
    const item = shownItem(resource, itemForm(services, resource, accepted), stored, forms, { characters: 0 });
    return this.frames(item, stream);
  }

  /** The event of {@link encodeInitial} as text, if it can be made without parsing the stored JSON. */
  initialText(stored: StoredObject): string | undefined {
    const { resource, form } = this;
    return isWork(resource, form, stored.json) ? undefined : watchedText(resource, form, 'ADDED', stored);
  }

  /** Encodes a BOOKMARK: all events up to `version` were sent. */
  encodeBookmark(version: bigint, endOfInitialEvents: boolean): Buffer {
    const metadata = {
      resourceVersion: String(version),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const { definition, served, apiVersion } = this.resource;
    // Tables and typed clients read fields that every object of the kind has, so set them.
    const object: ApiObject = { kind: definition.kind, apiVersion, ...(zeroValue(served.type) as object), metadata };
    const withColumns = this.form.accepted.as === 'Table' && !this.tableHeadSent;
    this.tableHeadSent ||= withColumns;
    return encodeObject(this.services, this.resource, { ...this.form, withColumns }, 'BOOKMARK', object);
  }

  /** Encodes an ERROR, after which the stream ends. */
  encodeError(status: Status): Buffer {
    return encodeEvent(this.form.accepted, 'ERROR', status, this.services.kinds.status);
  }

  /**
   * The event of a whole object in protobuf, made like an item of a list, which needs no parsed managed fields; undefined
   * for other forms and for large objects.
   */
  private encodeWhole(type: WatchEventType, { key, uid, resourceVersion }: Change, json: string): Buffer | undefined {
    const { services, resource, form } = this;
    const { accepted } = form;
    if (accepted.mediaType !== 'protobuf' || accepted.as !== undefined || isWork(resource, form, json))
      return undefined;
    const stored = { key, uid, resourceVersion, json };
    // Not kept: most changes are followed by the next one before a list.
    const item = shownItem(resource, itemForm(services, resource, accepted), stored, undefined, { characters: 0 });
    this.wholeFrames ??= new Map();
    let frames = this.wholeFrames.get(type);
    if (frames === undefined) {
      frames = protobufFrames(type, resource.apiVersion, resource.definition.kind);
      this.wholeFrames.set(type, frames);
    }
    return frames(item, ownRoom);
  }

  private eventType(change: Change): WatchEventType | undefined {
    if (this.selection.selectsAll) {
      return change.type === 'create' ? 'ADDED' : change.type === 'update' ? 'MODIFIED' : 'DELETED';
    }
    const { after, before } = attributesOfChange(change, this.selection.source);
    const isSelected = change.type !== 'delete' && selects(this.selection, after, change.key);
    const wasSelected = change.type !== 'create' && selects(this.selection, before ?? after, change.key);
    if (isSelected) return wasSelected ? 'MODIFIED' : 'ADDED';
    return wasSelected ? 'DELETED' : undefined;
  }

  private encode(type: WatchEventType, text: WatchedText): Buffer | Promise<Buffer> {
    const withColumns = this.form.accepted.as === 'Table' && !this.tableHeadSent;
    this.tableHeadSent ||= withColumns;
    const form = withColumns ? { ...this.form, withColumns } : this.form;
    const { largeRequests } = this.services;
    if (largeRequests === undefined || !isWork(this.resource, form, text.json)) {
      return encodeWatched(this.services, this.resource, form, type, text);
    }
    const { definition, served } = this.resource;
    const { group, resource } = definition;
    const definitionsAt = this.services.registry.changedAt;
    return largeRequests.encode({ type, group, version: served.version, resource, form, text, definitionsAt });
  }
}

type InitialFrames = (item: ByteRange, stream: Pick<WatchStream, 'allocate'>) => Buffer;

/** For events that several watches share. */
const ownRoom: Pick<WatchStream, 'allocate'> = { allocate: (bytes) => Buffer.allocUnsafe(bytes) };

/** Returns a function that turns an item of a list, in the form of {@link itemForm}, into an ADDED event. */
function addedFrames(
  services: EndpointServices,
  resource: ServedResource,
  { mediaType, as, asVersion = 'v1' }: AcceptedType,
): InitialFrames {
  const isWhole = as === undefined;
  const apiVersion = isWhole ? resource.apiVersion : `meta.${services.names.suffix}/${asVersion}`;
  const kind = isWhole ? resource.definition.kind : 'PartialObjectMetadata';
  if (mediaType === 'cbor') {
    const frames = new CborFrames('ADDED', isWhole && !hasKindInLists(resource) ? { kind, apiVersion } : undefined);
    return (item) => frames.encode(item);
  }
  return protobufFrames('ADDED', apiVersion, kind);
}

function protobufFrames(type: WatchEventType, apiVersion: string, kind: string): InitialFrames {
  const { WatchFrames } = protobufCodec();
  const frames = new WatchFrames(type, apiVersion, kind);
  return (item, stream) => frames.encode(item.source, messageStart(item), item.end, (bytes) => stream.allocate(bytes));
}

/** Encodes the remaining events one after the other, so that only one is in progress in the other thread. */
async function encodeRest(
  encoder: WatchEncoder,
  changes: readonly Change[],
  begun: Buffer[],
  next: Promise<Buffer>,
  from: number,
): Promise<Buffer> {
  begun.push(await next);
  for (const change of changes.slice(from)) {
    const encoded = encoder.encodeChange(change);
    const event = encoded instanceof Promise ? await encoded : encoded;
    if (event !== undefined) begun.push(event);
  }
  return joined(begun) as Buffer;
}

/** The sizes of the single events in joined bytes; shared between watchers, like the bytes. */
const joinedSizes = new WeakMap<Buffer, readonly number[]>();

function joined(events: readonly Buffer[]): Buffer | undefined {
  if (events.length <= 1) return events[0];
  const bytes = Buffer.concat(events);
  joinedSizes.set(
    bytes,
    events.map(({ length }) => length),
  );
  return bytes;
}

/** The single events in bytes that {@link WatchEncoder} returned. */
export function eventsIn(bytes: Buffer): readonly Buffer[] {
  let at = 0;
  return (
    joinedSizes.get(bytes)?.map((size) => {
      at += size;
      return bytes.subarray(at - size, at);
    }) ?? [bytes]
  );
}

/** Counts the events in bytes that {@link WatchEncoder.encodeBatch} returned. */
export function countEvents(series: WatchSeries, bytes: Buffer): void {
  const sizes = joinedSizes.get(bytes);
  if (sizes === undefined) series.sent(bytes.length);
  else for (const size of sizes) series.sent(size);
}

/** Caches a result. A promise is removed when it fails. */
function remember<T>(forms: Map<string, T | Promise<T>>, key: string, value: T | Promise<T>): void {
  forms.set(key, value);
  if (!(value instanceof Promise)) return;
  value.then(
    (ready) => forms.set(key, ready),
    () => forms.delete(key),
  );
}
