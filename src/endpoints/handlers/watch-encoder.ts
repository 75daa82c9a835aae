import type { ApiObject } from '../../machinery/api-object.js';
import { type KindType, zeroValue } from '../../machinery/schema/index.js';
import type { Status } from '../../machinery/status-error.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import { spliceVersion, storedForm } from '../../registry/store/object-codec.js';
import type { Selection } from '../../registry/store/selection.js';
import { type AttributeSource, type ObjectAttributes, selects } from '../../storage/selection-predicate.js';
import type { Change, StoredObject } from '../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { protobufEvent, type TypedValue } from '../negotiation/protobuf-answer.js';
import { servedObject, shownType } from '../negotiation/respond.js';
import { type IncludeObject, partialMetadata, tableOf } from '../negotiation/transform.js';
import type { EndpointServices } from '../services.js';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** Encoded forms of one change, by event type and form; shared by every watcher of the process. */
const encodedChanges = new WeakMap<Change, Map<string, Buffer>>();

/** Encoded events of one batch, by form and selection: watchers of the same things get the same bytes. */
const encodedBatches = new WeakMap<readonly Change[], Map<string, Buffer | undefined>>();

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
  private readonly isProtobuf: boolean;
  private readonly shownType: KindType;
  private tableHeadSent = false;

  constructor(
    private readonly services: EndpointServices,
    private readonly resource: ServedResource,
    private readonly selection: Selection,
    selectionKey: string,
    private readonly accepted: AcceptedType,
    private readonly include: IncludeObject,
  ) {
    this.isProtobuf = accepted.mediaType === 'protobuf';
    this.shownType = shownType(services, resource, accepted);
    const format = this.isProtobuf ? 'protobuf' : 'json';
    this.formKey = `${format}/${resource.apiVersion}/${accepted.as ?? ''}/${accepted.asVersion ?? ''}/${include}`;
    this.batchKey = `${this.formKey}\n${selectionKey}`;
  }

  /**
   * The events of a batch as one piece of bytes, or undefined when none of it concerns the watch. Subscribers of the
   * same scope share their batches, so that most of them find the bytes ready.
   */
  encodeBatch(changes: readonly Change[]): Buffer | undefined {
    // A table's first event is this watcher's own.
    if (this.accepted.as === 'Table' && !this.tableHeadSent) return this.encodeAll(changes);
    let forms = encodedBatches.get(changes);
    if (forms === undefined) {
      forms = new Map();
      encodedBatches.set(changes, forms);
    }
    if (forms.has(this.batchKey)) return forms.get(this.batchKey);
    const bytes = this.encodeAll(changes);
    forms.set(this.batchKey, bytes);
    return bytes;
  }

  private encodeAll(changes: readonly Change[]): Buffer | undefined {
    const events: Buffer[] = [];
    for (const change of changes) {
      const event = this.encodeChange(change);
      if (event !== undefined) events.push(event);
    }
    return events.length <= 1 ? events[0] : Buffer.concat(events);
  }

  /** The event of a change, or undefined when it does not concern the watch. */
  encodeChange(change: Change): Buffer | undefined {
    const type = this.eventType(change);
    if (type === undefined) return undefined;
    // A table's first event also carries the columns, so it is this watcher's own.
    const isFirstRow = this.accepted.as === 'Table' && !this.tableHeadSent;
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
    forms.set(key, bytes);
    return bytes;
  }

  /** A synthetic ADDED for an object that was there when the watch began. */
  encodeInitial(stored: StoredObject): Buffer {
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
    return this.encodeValue('BOOKMARK', this.transform(object), this.shownType);
  }

  /** An ERROR, after which the stream ends. */
  encodeError(status: Status): Buffer {
    return this.encodeValue('ERROR', status, this.services.kinds.status);
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

  private encode(type: WatchEventType, text: { readonly json: string; readonly resourceVersion: bigint }): Buffer {
    if (this.accepted.as === undefined && this.resource.isStored && !this.isProtobuf) {
      return encodeEvent(type, spliceVersion(text, storedForm(this.resource)));
    }
    return this.encodeValue(type, this.transform(servedObject(this.resource, text)), this.shownType);
  }

  private encodeValue(type: WatchEventType, value: unknown, declared: KindType): Buffer {
    if (this.isProtobuf) return protobufEvent(type, declared, value as TypedValue);
    return encodeEvent(type, JSON.stringify(value));
  }

  private transform(object: ApiObject): unknown {
    const version = this.accepted.asVersion ?? 'v1';
    switch (this.accepted.as) {
      case 'Table': {
        const withColumns = !this.tableHeadSent;
        this.tableHeadSent = true;
        const listMeta = { resourceVersion: object.metadata.resourceVersion ?? '' };
        return tableOf(this.services, this.resource, [object], listMeta, version, this.include, withColumns);
      }
      case 'PartialObjectMetadata':
      case 'PartialObjectMetadataList':
        return partialMetadata(this.services.names, object, version);
      default:
        return object;
    }
  }
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

function encodeEvent(type: WatchEventType, object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}
