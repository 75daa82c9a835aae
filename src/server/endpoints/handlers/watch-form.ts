import type { ApiObject } from '../../../base/machinery/api-object.js';
import { isLarge } from '../../../base/machinery/large-work.js';
import type { KindType } from '../../../base/machinery/schema/index.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { isPresentForm, spliceVersion, storedForm } from '../../../objects/registry/store/object-codec.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { AcceptedType } from '../negotiation/accept.js';
import { cborEvent, cborShape } from '../negotiation/cbor-answer.js';
import { protobufEvent, type TypedValue } from '../negotiation/protobuf-answer.js';
import { servedObject, shownType } from '../negotiation/respond.js';
import { partialMetadata, tableOf } from '../negotiation/transform.js';
import type { WatchEventType, WatchedText, WatchForm } from './watch-event.js';

/** Whether encoding the object takes noticeable time. If the stored form is requested, the JSON is sent unchanged. */
export function isWork(resource: ServedResource, form: WatchForm, json: string): boolean {
  return isLarge(json) && !(isStoredForm(resource, form) && isPresentForm(resource, json));
}

function isStoredForm(resource: ServedResource, { accepted }: WatchForm): boolean {
  return accepted.as === undefined && resource.isStored && accepted.mediaType === 'json';
}

/** Encodes the event of a stored object. */
export function encodeWatched(
  services: EndpointServices,
  resource: ServedResource,
  form: WatchForm,
  type: WatchEventType,
  text: WatchedText,
): Buffer {
  const ready = watchedText(resource, form, type, text);
  if (ready !== undefined) return Buffer.from(ready);
  return encodeObject(services, resource, form, type, servedObject(resource, text));
}

/** The event of a stored object if it contains the stored JSON unchanged; undefined for other forms. */
export function watchedText(
  resource: ServedResource,
  form: WatchForm,
  type: WatchEventType,
  text: WatchedText,
): string | undefined {
  return isStoredForm(resource, form) ? eventText(type, spliceVersion(text, storedForm(resource))) : undefined;
}

/** Encodes the event of a served object. */
export function encodeObject(
  services: EndpointServices,
  resource: ServedResource,
  form: WatchForm,
  type: WatchEventType,
  object: ApiObject,
): Buffer {
  const { accepted } = form;
  return encodeEvent(
    accepted,
    type,
    transform(services, resource, form, object),
    shownType(services, resource, accepted),
  );
}

/** Encodes an event with a value that is already in its final form. */
export function encodeEvent(accepted: AcceptedType, type: WatchEventType, value: unknown, declared: KindType): Buffer {
  if (accepted.mediaType === 'protobuf') return protobufEvent(type, declared, value as TypedValue);
  if (accepted.mediaType === 'cbor') return cborEvent(type, value, cborShape(declared, accepted));
  return Buffer.from(eventText(type, JSON.stringify(value)));
}

function transform(
  services: EndpointServices,
  resource: ServedResource,
  { accepted, include, withColumns }: WatchForm,
  object: ApiObject,
): unknown {
  const version = accepted.asVersion ?? 'v1';
  switch (accepted.as) {
    case 'Table': {
      const listMeta = { resourceVersion: object.metadata.resourceVersion ?? '' };
      return tableOf(services, resource, [object], listMeta, { version, include, withColumns });
    }
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return partialMetadata(services.names, object, version);
    default:
      return object;
  }
}

function eventText(type: WatchEventType, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}
