import type { ApiObject } from '../../../base/machinery/api-object.js';
import { encodeCbor } from '../../../base/machinery/cbor/index.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { hasKindInLists, spliceMetadata, storedForm } from '../../../objects/registry/store/object-codec.js';
import { parseManagedAsText, parseMetadataAsText } from '../../../objects/registry/store/read-managed-text.js';
import type { ByteRange, KeptForms, StoredObject } from '../../../storage/storage.interface.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { AcceptedType } from './accept.js';
import { cborShape } from './cbor-answer.js';
import type { Validity } from './packed-runs.js';
import { protobufItem } from './protobuf-answer.js';
import { servedObject, shownType } from './respond.js';
import { partialMetadata } from './transform.js';

/** An encoding of objects that depends only on the object and the release. */
export interface ItemForm {
  readonly encode: (object: ApiObject) => Uint8Array;
  /** Reads what `encode` needs of a stored object, if that can be read by itself; otherwise all of it is parsed. */
  readonly read?: (resource: ServedResource, item: StoredObject) => ApiObject | undefined;
}

const forms = new WeakMap<ServedResource, Map<string, ItemForm>>();

/**
 * The form of an object as an item of a list: JSON after a comma, a field of the list's protobuf message, or a CBOR
 * map. Tables, YAML and indented JSON have no such form.
 */
export function itemForm(services: EndpointServices, resource: ServedResource, accepted: AcceptedType): ItemForm {
  const { mediaType } = accepted;
  const isWhole = accepted.as === undefined;
  const version = accepted.asVersion ?? 'v1';
  return formOf(resource, `${mediaType}/${isWhole ? '' : version}`, () => {
    const type = shownType(services, resource, accepted);
    if (mediaType === 'protobuf') {
      return {
        encode: (object) => protobufItem(type, object),
        read: isWhole ? parseManagedAsText : parseMetadataAsText,
      };
    }
    const shown = isWhole
      ? listItem(resource)
      : (object: ApiObject) => partialMetadata(services.names, object, version);
    if (mediaType === 'cbor') {
      const shape = cborShape(type, accepted);
      return { encode: (object) => encodeCbor(shown(object), shape) };
    }
    return { encode: (object) => Buffer.from(`,${JSON.stringify(shown(object))}`) };
  });
}

/** The form that `make` made for this key and resource; forms are found by their identity. */
export function formOf(resource: ServedResource, key: string, make: () => ItemForm): ItemForm {
  let known = forms.get(resource);
  if (known === undefined) {
    known = new Map();
    forms.set(resource, known);
  }
  let form = known.get(key);
  if (form === undefined) {
    form = make();
    known.set(key, form);
  }
  return form;
}

/** Returns a function that reduces an object to the fields that lists show, in all forms except protobuf. */
export function listItem(resource: ServedResource): (object: ApiObject) => unknown {
  return hasKindInLists(resource) ? (object) => object : withoutKind;
}

function withoutKind({ kind: _kind, apiVersion: _apiVersion, ...item }: ApiObject): unknown {
  return item;
}

/** Counts work, as the number of characters that take about as long to parse. */
export interface ParseCounter {
  characters: number;
  /** If it is there, shortened to the time in which what was made stays true. */
  readonly validity?: Validity;
}

/** The work of finding a cached form. */
export const findingWork = 200;
/** Copying this many characters takes as long as parsing one. */
export const copiedAsParsed = 8;

/**
 * A stored object in a form: the cached bytes if there are any, or else new bytes, which are cached if the budget
 * allows it.
 */
export function shownItem(
  resource: ServedResource,
  form: ItemForm,
  item: StoredObject,
  kept: KeptForms | undefined,
  work: ParseCounter,
): ByteRange {
  const known = kept?.find(item, form);
  work.characters += known === undefined ? item.json.length : findingWork;
  if (known !== undefined) return known;
  const bytes = form.encode(form.read?.(resource, item) ?? servedObject(resource, item));
  return kept?.keep(item, form, bytes) ?? rangeOf(bytes);
}

export function rangeOf(bytes: Uint8Array): ByteRange {
  const source = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { source, start: 0, end: source.length };
}

/**
 * The metadata of a stored object as an item of a JSON list, after a comma. Undefined when this requires parsing the
 * object.
 */
export function metadataItem(
  { names }: EndpointServices,
  resource: ServedResource,
  item: StoredObject,
  version: string,
  work: ParseCounter,
): string | undefined {
  if (!resource.isStored) return undefined;
  const metadata = spliceMetadata(item, storedForm(resource));
  if (metadata === undefined) return undefined;
  // To look for the end of a value takes as long as to parse it.
  work.characters += findingWork + metadata.length;
  return `,{"kind":"PartialObjectMetadata","apiVersion":"meta.${names.suffix}/${version}","metadata":${metadata}}`;
}
