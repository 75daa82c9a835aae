import type { ApiObject, ObjectMeta } from '../../../base/machinery/api-object.js';
import { JsonText } from '../../../base/machinery/json/json-text.js';
import { RecentTexts } from '../../../base/machinery/json/recent-texts.js';
import { needsExactParsing } from '../../../base/machinery/json/stored-text.js';
import type { ServedResource } from '../resource-registry.js';
import { isPresentForm, spliceMetadata, storedForm, type VersionedText } from './object-codec.js';

/** Inside a string these quotes would be escaped, so this is the name of a member. */
const fieldsMember = '"fieldsV1":';
const openBrace = 0x7b;
/** Objects that were made alike have the same managed fields. */
const recentTexts = new RecentTexts();

/**
 * An object for encoders that write `fieldsV1` as text: each is a {@link JsonText} with the stored characters. They are up
 * to half of an object, and each of their names is a different one, so parsing them takes about as long as the rest.
 * Undefined if the object must be read in another way: in a form of another release, converted, or with numbers that
 * need care.
 */
export function parseManagedAsText(resource: ServedResource, stored: VersionedText): ApiObject | undefined {
  const { json, resourceVersion } = stored;
  if (!isReadable(resource, json)) return undefined;
  const object = parsed<ApiObject>(json, ({ metadata }) => metadata);
  if (object === undefined) return undefined;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = String(resourceVersion);
  object.kind = resource.definition.kind;
  object.apiVersion = resource.apiVersion;
  return object;
}

/** {@link parseManagedAsText} for readers of the metadata alone; everything else is neither read nor there. */
export function parseMetadataAsText(resource: ServedResource, stored: VersionedText): ApiObject | undefined {
  if (!isReadable(resource, stored.json)) return undefined;
  const text = spliceMetadata(stored, storedForm(resource));
  const metadata = text === undefined ? undefined : parsed<ObjectMeta>(text, (read) => read);
  return metadata === undefined ? undefined : { metadata };
}

function isReadable(resource: ServedResource, json: string): boolean {
  const { isStored, served } = resource;
  if (!isStored || served.fromStored !== undefined || served.type.custom !== undefined) return false;
  return isPresentForm(resource, json) && !needsExactParsing(json);
}

/** Undefined if another member than those of the managers has this name. */
function parsed<T>(json: string, metadataOf: (value: T) => ObjectMeta): T | undefined {
  const texts: string[] = [];
  let rest = '';
  let from = 0;
  for (let at = json.indexOf(fieldsMember); at >= 0; at = json.indexOf(fieldsMember, from)) {
    const start = at + fieldsMember.length;
    if (json.charCodeAt(start) !== openBrace) return undefined;
    const text = recentTexts.at(json, start);
    rest += `${json.slice(from, start)}${texts.length}`;
    texts.push(text);
    from = start + text.length;
  }
  const value = JSON.parse(rest + json.slice(from)) as T;
  let placed = 0;
  for (const entry of metadataOf(value).managedFields ?? []) {
    const { fieldsV1 } = entry as { fieldsV1: unknown };
    if (fieldsV1 === undefined) continue;
    if (fieldsV1 !== placed) return undefined;
    Object.assign(entry, { fieldsV1: new JsonText(texts[placed] as string) });
    placed++;
  }
  return placed === texts.length ? value : undefined;
}
