import type { ApiObject } from '../../machinery/api-object.js';
import type { KindType } from '../../machinery/schema/index.js';
import type { Status } from '../../machinery/status-error.js';
import { parseText, spliceVersion, storedForm } from '../../registry/object-codec.js';
import type { ServedResource } from '../../registry/resource-registry.js';
import type { Selection } from '../../registry/selection.js';
import type { Change, StoredObject } from '../../storage/storage.interface.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { protobufEvent, type TypedValue } from '../negotiation/protobuf-answer.js';
import { servedObject, shownType } from '../negotiation/respond.js';
import { type IncludeObject, partialMetadata, tableOf } from '../negotiation/transform.js';
import type { EndpointServices } from '../services.js';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** Encoded forms of one change, by event type and form; shared by every watcher of the process. */
const encodedChanges = new WeakMap<Change, Map<string, Buffer>>();

/** Parsed states of one change, shared by every watcher that has to look into it. */
const parsedChanges = new WeakMap<Change, { after?: ApiObject; before?: ApiObject }>();

/**
 * Turns changes into the events of one watch: which event a change is for the watch's selection (specification 6.1; an
 * object that starts or stops being selected is ADDED or DELETED), and its bytes in the accepted form.
 */
export class WatchEncoder {
  private readonly formKey: string;
  private readonly isProtobuf: boolean;
  private readonly shownType: KindType;
  private tableHeadSent = false;

  constructor(
    private readonly services: EndpointServices,
    private readonly resource: ServedResource,
    private readonly selection: Selection,
    private readonly accepted: AcceptedType,
    private readonly include: IncludeObject,
  ) {
    this.isProtobuf = accepted.mediaType === 'protobuf';
    this.shownType = shownType(services, resource, accepted);
    const format = this.isProtobuf ? 'protobuf' : 'json';
    this.formKey = `${format}/${resource.apiVersion}/${accepted.as ?? ''}/${accepted.asVersion ?? ''}/${include}`;
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
      creationTimestamp: null,
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const { kind } = this.resource.definition;
    const object: ApiObject = { kind, apiVersion: this.resource.apiVersion, metadata };
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
    const parsed = parsedStates(this.resource, change);
    const isSelected = change.type !== 'delete' && this.selection.matches(parsed.after as ApiObject);
    const wasSelected =
      change.type !== 'create' && this.selection.matches(parsed.before ?? (parsed.after as ApiObject));
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
        const { definition } = this.resource;
        return tableOf(this.services, definition, [object], listMeta, version, this.include, withColumns);
      }
      case 'PartialObjectMetadata':
      case 'PartialObjectMetadataList':
        return partialMetadata(this.services.names, object, version);
      default:
        return object;
    }
  }
}

function parsedStates(resource: ServedResource, change: Change): { after?: ApiObject; before?: ApiObject } {
  let parsed = parsedChanges.get(change);
  if (parsed === undefined) {
    parsed = { after: parseText(resource, change.json) };
    if (change.previousJson !== undefined) parsed.before = parseText(resource, change.previousJson);
    parsedChanges.set(change, parsed);
  }
  return parsed;
}

function encodeEvent(type: WatchEventType, object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}
