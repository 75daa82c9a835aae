import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { parseExactJson } from '../../../base/machinery/json/exact-numbers.js';
import { parseInTurns } from '../../../base/machinery/json/parse-in-turns.js';
import { endOfValue } from '../../../base/machinery/json/skim.js';
import { needsExactParsing, toStoredText } from '../../../base/machinery/json/stored-text.js';
import { largeBytes } from '../../../base/machinery/large-work.js';
import { DecodeError, decode, type KindType } from '../../../base/machinery/schema/index.js';
import { badRequestError, StatusError, unreasonedError } from '../../../base/machinery/status-error.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import { isStoredKind, remoteConversionOf, storageOf } from '../resource-definition.js';
import {
  isStoredResource,
  type ResourceRegistry,
  type ServedResource,
  type StoredServedResource,
} from '../resource-registry.js';

/** The JSON of an object with its version in the store. Dry runs of creates have no version. */
export interface VersionedText {
  readonly json: string;
  readonly resourceVersion: bigint | undefined;
}

/** Finds the resource by the place where its objects are stored. */
export type StoredResources = Pick<ResourceRegistry, 'findStored'>;

type StoredText = Pick<StoredObject, 'json' | 'resourceVersion'>;

const metadataStart = '"metadata":{';

/** The first characters of a resource's stored JSON, so that it can be spliced without parsing. */
export interface StoredForm {
  /**
   * The beginning of up-to-date JSON in the store. White space after the brace encodes the revision of the defaults, or
   * of the form: other readers of the JSON ignore it, and outdated JSON is recognized without parsing.
   */
  readonly prefix: string;
  /** The beginning that clients receive instead. */
  readonly shown: string;
  /** The beginning that clients receive for an item of a list, see {@link hasKindInLists}. */
  readonly item: string;
  readonly resource: ServedResource;
}

const forms = new WeakMap<ServedResource, StoredForm>();

/** The form of a resource's stored JSON, made once. */
export function storedForm(resource: ServedResource): StoredForm {
  let form = forms.get(resource);
  if (form === undefined) {
    const { kind } = resource.definition;
    const rest = `"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(storedApiVersion(resource))},${metadataStart}`;
    const shown = `{${rest}`;
    const item = hasKindInLists(resource) ? shown : `{${metadataStart}`;
    form = { prefix: `${opening(resource)}${rest}`, shown, item, resource };
    forms.set(resource, form);
  }
  return form;
}

/**
 * Whether the items of a list have kind and apiVersion. The items of custom resources do: clients without types for
 * them have no other source.
 */
export function hasKindInLists({ served }: ServedResource): boolean {
  return served.type.custom !== undefined;
}

function opening({ definition }: ServedResource): string {
  if (!isStoredKind(definition)) return '{';
  return `{${definition.storedForm?.mark ?? ' '.repeat(definition.defaultsRevision ?? 0)}`;
}

/** Whether stored JSON is up to date: written in the stored version, with the present defaults. */
export function isPresentForm(resource: ServedResource, json: string): boolean {
  return json.startsWith(storedForm(resource).prefix);
}

/**
 * The JSON of a canonical object in the stored version: kind, apiVersion and metadata first, without resourceVersion
 * (the store's own column is the truth).
 */
export function encodeForStorage(resource: ServedResource, object: ApiObject): string {
  const { definition } = resource;
  const fitting = isStoredKind(definition) ? (definition.storedForm?.beforeStorage?.(object) ?? object) : object;
  const { kind: _kind, apiVersion: written, metadata, ...rest } = fitting;
  const { resourceVersion: _resourceVersion, ...storedMetadata } = metadata;
  const { kind } = definition;
  // Objects that only an external converter could convert stay in their version.
  const isKept = written !== undefined && remoteConversionOf(definition) !== undefined;
  const apiVersion = isKept ? written : storedApiVersion(resource);
  const stored = { kind, apiVersion, metadata: storedMetadata, ...rest };
  const json = textFor(stored);
  const start = opening(resource);
  return start.length === 1 ? json : `${start}${json.slice(1)}`;
}

/**
 * The JSON of an object that a converter made for requests in another version than the stored one. It is marked as
 * complete: defaults are those of stored objects, and the version that an object is read in adds none.
 */
export function encodeConverted(resource: ServedResource, object: ApiObject): string {
  const json = encodeForStorage(resource, object);
  if (resource.isStored) return json;
  return `${convertedOpening(resource)}${json.slice(opening(resource).length)}`;
}

function convertedOpening(resource: ServedResource): string {
  return `${opening(resource)} `;
}

/** Bodies are checked when they are read. A fault found only here was made by a webhook or a policy. */
function textFor(stored: object & Pick<ApiObject, 'metadata'>): string {
  try {
    return toStoredText(stored);
  } catch (error) {
    if (!(error instanceof ValueFormatError)) throw error;
    throw new StatusError('BadRequest', `${stored.metadata.name ?? ''}: ${error.message}`);
  }
}

/** The stored version: the first of the definition, in the group that the objects are stored under. */
export function storedApiVersion({ definition }: ServedResource): string {
  const { version } = definition.versions[0];
  const { group } = storageOf(definition);
  return group === '' ? version : `${group}/${version}`;
}

/**
 * Parses stored JSON. An object from before a change of the stored version or of the defaults is returned in the
 * current form.
 */
export function parseText(resource: ServedResource, json: string): ApiObject {
  const object = (needsExactParsing(json) ? parseExactJson(json) : JSON.parse(json)) as ApiObject;
  return asOfToday(resource, json, object);
}

function asOfToday(resource: ServedResource, json: string, object: ApiObject): ApiObject {
  if (isPresentForm(resource, json) || isConverted(resource, json) || !isStoredResource(resource)) return object;
  return broughtUpToDate(resource, object);
}

/** Whether the JSON is that of {@link encodeConverted}. */
function isConverted(resource: ServedResource, json: string): boolean {
  if (resource.isStored || remoteConversionOf(resource.definition) === undefined) return false;
  return json.startsWith(convertedOpening(resource));
}

function broughtUpToDate(resource: StoredServedResource, object: ApiObject): ApiObject {
  const { definition } = resource;
  if (definition.storedForm !== undefined) return definition.storedForm.complete(object);
  const [stored, ...others] = definition.versions;
  const current = storedApiVersion(resource);
  let upToDate = object;
  if (object.apiVersion !== current) {
    const written = parseApiVersion(object.apiVersion ?? '')?.version;
    const from = others.find(({ version }) => version === written);
    upToDate = from?.toStored?.(object) ?? object;
    upToDate.kind = definition.kind;
    upToDate.apiVersion = current;
  }
  if (definition.storedAs === undefined) {
    upToDate = canonical(stored.type, upToDate);
    stored.applyDefaults?.(upToDate);
  }
  definition.strategy.applyDefaults?.(upToDate);
  return upToDate;
}

/**
 * {@link parseText} for callers that know only where an object is stored. JSON without a registered resource, such as
 * the program's own records, is returned unchanged.
 */
export function decodeStored(registry: StoredResources, { key, json }: Pick<StoredObject, 'key' | 'json'>): ApiObject {
  const resource = registry.findStored(key.resource);
  return resource === undefined ? (JSON.parse(json) as ApiObject) : parseText(resource, json);
}

/** {@link decodeStored} in turns with everything else, for large objects. */
export async function readStoredInTurns(
  registry: StoredResources,
  { key, json }: Pick<StoredObject, 'key' | 'json'>,
): Promise<ApiObject> {
  const resource = registry.findStored(key.resource);
  const object = (await parseInTurns(json, needsExactParsing(json))) as ApiObject;
  return resource === undefined ? object : asOfToday(resource, json, object);
}

/** {@link decodeStored} for callers that may wait: a large object is read in turns with everything else. */
export function readStored(
  registry: StoredResources,
  stored: Pick<StoredObject, 'key' | 'json'>,
): ApiObject | Promise<ApiObject> {
  return stored.json.length > largeBytes ? readStoredInTurns(registry, stored) : decodeStored(registry, stored);
}

/** An object that can't be decoded by the current declaration stays unchanged, for its owner to see. */
function canonical(type: KindType, object: ApiObject): ApiObject {
  try {
    return decode(type, object).value as ApiObject;
  } catch (error) {
    if (error instanceof DecodeError) return object;
    throw error;
  }
}

/** {@link parseText} with the store's version put into the metadata. */
export function parseStored(resource: ServedResource, stored: StoredText): ApiObject {
  const object = parseText(resource, stored.json);
  object.metadata.resourceVersion = String(stored.resourceVersion);
  return object;
}

/** Stored JSON with its version spliced in, ready for a client. */
export function spliceVersion(text: VersionedText, form: StoredForm): string {
  const { json, resourceVersion } = text;
  if (!json.startsWith(form.prefix)) return respliceParsed(text, form);
  const rest = json.slice(form.prefix.length);
  return resourceVersion === undefined ? form.shown + rest : `${form.shown}${withVersion(resourceVersion, rest)}`;
}

/** JSON in two parts, to be written one after the other: joining them would copy the long one. */
export interface ItemText {
  readonly head: string;
  readonly rest: string;
}

/** Stored JSON for a list, whose items have neither kind nor apiVersion, except in lists of custom resources. */
export function listItemText(text: VersionedText, form: StoredForm): ItemText {
  const { json, resourceVersion } = text;
  if (!json.startsWith(form.prefix)) return { head: '', rest: parsedListItem(text, form) };
  const rest = json.slice(form.prefix.length);
  return { head: `${form.item}${versionField(resourceVersion, rest)}`, rest };
}

function parsedListItem(text: VersionedText, form: StoredForm): string {
  if (form.item === form.shown) return respliceParsed(text, form);
  const object = parseText(form.resource, text.json);
  const { kind: _kind, apiVersion: _apiVersion, ...item } = object;
  return JSON.stringify({ ...item, metadata: { resourceVersion: String(text.resourceVersion), ...item.metadata } });
}

/** The metadata of stored JSON, with its version; undefined if the JSON would have to be parsed. */
export function spliceMetadata({ json, resourceVersion }: VersionedText, { prefix }: StoredForm): string | undefined {
  if (!json.startsWith(prefix)) return undefined;
  const end = endOfValue(json, prefix.length - 1);
  return `{${withVersion(resourceVersion, json.slice(prefix.length, end))}`;
}

function withVersion(version: bigint | undefined, restOfMetadata: string): string {
  return `${versionField(version, restOfMetadata)}${restOfMetadata}`;
}

/** The version as the first field of the metadata, before the others. */
function versionField(version: bigint | undefined, others: string): string {
  return `"resourceVersion":"${version}"${others.startsWith('}') ? '' : ','}`;
}

function respliceParsed({ json, resourceVersion }: VersionedText, { resource }: StoredForm): string {
  const object = parseText(resource, json);
  if (resourceVersion !== undefined) {
    object.metadata = { ...object.metadata, resourceVersion: String(resourceVersion) };
  }
  return JSON.stringify(object);
}

/** Converts a stored or internal version of an object to the served version; the input may be changed. */
export function toServed(resource: ServedResource, object: ApiObject): ApiObject {
  const converted = resource.served.fromStored === undefined ? object : resource.served.fromStored(object);
  converted.kind = resource.definition.kind;
  converted.apiVersion = resource.apiVersion;
  return converted;
}

/** Converts a decoded object of the served version to the stored version; the input may be changed. */
export function toStored(resource: ServedResource, object: ApiObject): ApiObject {
  const converted = resource.served.toStored === undefined ? object : resource.served.toStored(object);
  converted.kind = resource.definition.kind;
  converted.apiVersion = storedApiVersion(resource);
  return converted;
}

/**
 * Whether a client's resourceVersion names a particular state of the object. A missing or empty version and zero mean
 * any state.
 */
export function namesVersion(text: string | undefined): text is string {
  return text !== undefined && !/^0*$/.test(text);
}

/** Whether a client's resourceVersion names a state other than the live one. 400 for a string that is not a version. */
export function isOtherVersion(asked: string | undefined, live: string | undefined): boolean {
  if (!namesVersion(asked) || asked === live) return false;
  return parseResourceVersion(asked, '') !== parseResourceVersion(live);
}

/** The beginning of the message when the version is a query parameter; `%` stands for the value. */
const versionParameter = 'resourceVersion: Invalid value: %: ';
/** The beginning of the message for a list. */
export const listVersionParameter = `invalid resource version: ${versionParameter}`;

/** The largest number that the database can use as a version. */
const largestVersion = 2n ** 63n - 1n;

/** Whether a resourceVersion of a client is empty or zero, however many digits that has. */
function isZero(text: string): boolean {
  return /^0*$/.test(text);
}

/**
 * Parses a client's resourceVersion; for a string that is not a version, 400 in a list, otherwise a 500 without a
 * reason. Returns undefined for an empty string and
 * zero.
 *
 * @param place the beginning of the message of the 400
 */
export function parseResourceVersion(text: string | undefined, place = versionParameter): bigint | undefined {
  if (text === undefined || isZero(text)) return undefined;
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > largestVersion) {
    const fault = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
    const quoted = JSON.stringify(text.slice(0, 64));
    const shown = place.replace('%', () => quoted);
    const message = `${shown}strconv.ParseUint: parsing ${quoted}: ${fault}`;
    throw place === listVersionParameter ? badRequestError(message) : unreasonedError(message);
  }
  return BigInt(text);
}
