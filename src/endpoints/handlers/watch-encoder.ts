import type { ApiObject } from '../../machinery/api-object.js';
import { zeroValue } from '../../machinery/schema/index.js';
import type { Status } from '../../machinery/status-error.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { Selection } from '../../registry/store/selection.js';
import { type AttributeSource, type ObjectAttributes, selects } from '../../storage/selection-predicate.js';
import type { Change, StoredObject } from '../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import type { IncludeObject } from '../negotiation/transform.js';
import type { EndpointServices } from '../services.js';
import {
  encodeEvent,
  encodeObject,
  encodeWatched,
  isWork,
  type WatchEventType,
  type WatchedText,
  type WatchForm,
} from './watch-form.js';

/** Encoded forms of one change, by event type and form; shared by every watcher of the process. */
const encodedChanges = new WeakMap<Change, Map<string, Buffer | Promise<Buffer>>>();

/** Encoded events of one batch, by form and selection: watchers of the same things get the same bytes. */
const encodedBatches = new WeakMap<readonly Change[], Map<string, Buffer | undefined | Promise<Buffer | undefined>>>();

/** What selection looks at in both states of a change, shared by every watcher that has to look. */
const changeAttributes = new WeakMap<Change, StatePair>();

interface StatePair {
  readonly after: ObjectAttributes;
  /** Unset when there was nothing before. */
  readonly before: ObjectAttributes | undefined;
}

/**
 * Turns changes into the events of one watch: which event a change is for the watch's selection (specification 6.1; an
 * object that starts or stops being selected is ADDED or DELETED), and its bytes in the accepted form.
 */
export class WatchEncoder {
  private readonly formKey: string;
  private readonly batchKey: string;
  private readonly form: WatchForm;
  private tableHeadSent = false;

  constructor(
    private readonly services: EndpointServices,
    private readonly resource: ServedResource,
    private readonly selection: Selection,
    selectionKey: string,
    accepted: AcceptedType,
    include: IncludeObject,
  ) {
    this.form = { accepted, include, withColumns: false };
    const format = accepted.mediaType === 'protobuf' ? 'protobuf' : 'json';
    this.formKey = `${format}/${resource.apiVersion}/${accepted.as ?? ''}/${accepted.asVersion ?? ''}/${include}`;
    this.batchKey = `${this.formKey}\n${selectionKey}`;
  }

  /**
   * The events of a batch as one piece of bytes, or undefined when none of it concerns the watch. Subscribers of the
   * same scope share their batches, so that most of them find the bytes ready.
   */
  encodeBatch(changes: readonly Change[]): Buffer | undefined | Promise<Buffer | undefined> {
    // A table's first event is this watcher's own.
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

  /** The event of a change, or undefined when it does not concern the watch. That of a large object takes its time. */
  encodeChange(change: Change): Buffer | undefined | Promise<Buffer> {
    const type = this.eventType(change);
    if (type === undefined) return undefined;
    // A table's first event also carries the columns, so it is this watcher's own.
    const isFirstRow = this.form.accepted.as === 'Table' && !this.tableHeadSent;
    const key = `${type}/${this.formKey}`;
    let forms = encodedChanges.get(change);
    if (!isFirstRow) {
      const known = forms?.get(key);
      if (known !== undefined) return known;
    }
    // An object that left the selection is shown as it was while selected, at the version of its leaving.
    const left = type === 'DELETED' && change.type !== 'delete';
    const json = left ? (change.previousJson as string) : change.json;
    const bytes = this.encode(type, { json, resourceVersion: change.resourceVersion });
    if (isFirstRow) return bytes;
    if (forms === undefined) {
      forms = new Map();
      encodedChanges.set(change, forms);
    }
    remember(forms, key, bytes);
    return bytes;
  }

  /** A synthetic ADDED for an object that was there when the watch began. */
  encodeInitial(stored: StoredObject): Buffer | Promise<Buffer> {
    return this.encode('ADDED', stored);
  }

  /** A BOOKMARK: everything up to `version` was sent. */
  encodeBookmark(version: bigint, endOfInitialEvents: boolean): Buffer {
    const metadata = {
      resourceVersion: String(version),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const { definition, served, apiVersion } = this.resource;
    // Whoever looks into it finds what every object of the kind has, be it a column of a table or a typed client.
    const object: ApiObject = { kind: definition.kind, apiVersion, ...(zeroValue(served.type) as object), metadata };
    const withColumns = this.form.accepted.as === 'Table' && !this.tableHeadSent;
    this.tableHeadSent ||= withColumns;
    return encodeObject(this.services, this.resource, { ...this.form, withColumns }, 'BOOKMARK', object);
  }

  /** An ERROR, after which the stream ends. */
  encodeError(status: Status): Buffer {
    return encodeEvent(this.form.accepted, 'ERROR', status, this.services.kinds.status);
  }

  private eventType(change: Change): WatchEventType | undefined {
    if (this.selection.selectsAll) {
      return change.type === 'create' ? 'ADDED' : change.type === 'update' ? 'MODIFIED' : 'DELETED';
    }
    const { after, before } = attributesOf(change, this.selection.source);
    const isSelected = change.type !== 'delete' && selects(this.selection, after);
    const wasSelected = change.type !== 'create' && selects(this.selection, before ?? after);
    if (isSelected) return wasSelected ? 'MODIFIED' : 'ADDED';
    return wasSelected ? 'DELETED' : undefined;
  }

  private encode(type: WatchEventType, text: WatchedText): Buffer | Promise<Buffer> {
    const withColumns = this.form.accepted.as === 'Table' && !this.tableHeadSent;
    this.tableHeadSent ||= withColumns;
    const form = withColumns ? { ...this.form, withColumns } : this.form;
    const lane = this.services.largeLane;
    if (lane === undefined || !isWork(this.resource, form, text.json)) {
      return encodeWatched(this.services, this.resource, form, type, text);
    }
    const { definition, served } = this.resource;
    const { group, resource } = definition;
    return lane.encode({ type, group, version: served.version, resource, form, text });
  }
}

/** One after the other, so that only one is on its way to the other thread. */
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

function joined(events: readonly Buffer[]): Buffer | undefined {
  return events.length <= 1 ? events[0] : Buffer.concat(events);
}

/** Keeps what is ready, and what is not only as long as it may become so. */
function remember<T>(forms: Map<string, T | Promise<T>>, key: string, value: T | Promise<T>): void {
  forms.set(key, value);
  if (!(value instanceof Promise)) return;
  value.then(
    (ready) => forms.set(key, ready),
    () => forms.delete(key),
  );
}

function attributesOf(change: Change, source: AttributeSource): StatePair {
  let known = changeAttributes.get(change);
  if (known === undefined || known.after.source !== source) {
    const before = change.previousJson === undefined ? undefined : source.extract(change.previousJson);
    known = { after: source.extract(change.json), before };
    changeAttributes.set(change, known);
  }
  return known;
}
