import type { ApiObject } from '../machinery/api-object.js';
import { StatusError } from '../machinery/status-error.js';
import type { StoredObject } from '../storage/storage.interface.js';
import type { ServedResource } from './resource-registry.js';

/** An object as text with the version it has in the store; dry runs of creates have none. */
export interface VersionedText {
  readonly json: string;
  readonly resourceVersion: bigint | undefined;
}

const metadataStart = '"metadata":{';

/** What stored text of a resource begins with, so that bytes can be spliced without parsing. */
export function storedPrefix(resource: ServedResource): string {
  const apiVersion = storedApiVersion(resource);
  return `{"kind":${JSON.stringify(resource.definition.kind)},"apiVersion":${JSON.stringify(apiVersion)},${metadataStart}`;
}

/**
 * Text of a canonical object in the stored version: kind, apiVersion and metadata first, without resourceVersion (the
 * store's own column is the truth).
 */
export function encodeForStorage(resource: ServedResource, object: ApiObject): string {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
  const { resourceVersion: _resourceVersion, ...storedMetadata } = metadata;
  const { kind } = resource.definition;
  return JSON.stringify({ kind, apiVersion: storedApiVersion(resource), metadata: storedMetadata, ...rest });
}

/** The first version of the definition, in the group that the objects are stored under. */
function storedApiVersion({ definition }: ServedResource): string {
  const { version } = definition.versions[0];
  const group = definition.storedAs?.group ?? definition.group;
  return group === '' ? version : `${group}/${version}`;
}

/** Parses stored text and puts the store's version into its metadata. */
export function parseStored(stored: StoredObject): ApiObject {
  const object = JSON.parse(stored.json) as ApiObject;
  object.metadata.resourceVersion = String(stored.resourceVersion);
  return object;
}

/** Stored text with its version spliced in: what a client reads. `prefix` is the resource's {@link storedPrefix}. */
export function spliceVersion(text: VersionedText, prefix: string): string {
  if (text.resourceVersion === undefined) return text.json;
  if (!text.json.startsWith(prefix)) return respliceParsed(text);
  return `${prefix}"resourceVersion":"${text.resourceVersion}",${text.json.slice(prefix.length)}`;
}

/** The same as an item of a list, whose items carry no kind and apiVersion. */
export function spliceListItem(text: VersionedText, prefix: string): string {
  const rest = text.json.startsWith(prefix) ? text.json.slice(prefix.length) : undefined;
  if (rest === undefined) {
    const object = JSON.parse(text.json) as ApiObject;
    const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
    return JSON.stringify({ ...item, metadata: { resourceVersion: String(text.resourceVersion), ...item.metadata } });
  }
  return `{${metadataStart}"resourceVersion":"${text.resourceVersion}",${rest}`;
}

function respliceParsed(text: VersionedText): string {
  const object = JSON.parse(text.json) as ApiObject;
  object.metadata = { ...object.metadata, resourceVersion: String(text.resourceVersion) };
  return JSON.stringify(object);
}

/** A stored or internal version of an object as the served version shows it; the input may be changed. */
export function toServed(resource: ServedResource, object: ApiObject): ApiObject {
  const converted = resource.served.fromStored === undefined ? object : resource.served.fromStored(object);
  converted.kind = resource.definition.kind;
  converted.apiVersion = resource.apiVersion;
  return converted;
}

/** A decoded object of the served version in the stored version; the input may be changed. */
export function toStored(resource: ServedResource, object: ApiObject): ApiObject {
  const converted = resource.served.toStored === undefined ? object : resource.served.toStored(object);
  converted.kind = resource.definition.kind;
  converted.apiVersion = storedApiVersion(resource);
  return converted;
}

/** Parses a resourceVersion of a client; 400 for text that is no version. Empty and `0` give undefined. */
export function parseResourceVersion(text: string | undefined): bigint | undefined {
  if (text === undefined || text === '' || text === '0') return undefined;
  if (!/^\d{1,19}$/.test(text)) {
    throw new StatusError(
      'BadRequest',
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: must be a decimal number`,
    );
  }
  return BigInt(text);
}
