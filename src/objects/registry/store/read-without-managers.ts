import type { ApiObject } from '../../../base/machinery/api-object.js';
import { withoutMember } from '../../../base/machinery/json/skim.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import type { ServedResource } from '../resource-registry.js';
import {
  decodeStored,
  isPresentForm,
  parseText,
  readStoredInTurns,
  type StoredResources,
  storedForm,
} from './object-codec.js';

/** Parsing JSON of this length holds the event loop for a few milliseconds. */
const atOnceBytes = 256 * 1024;

/**
 * The stored JSON without `managedFields`. Parsing them takes most of the time of a large object, because each of their
 * many names is a different one. JSON of an older form is returned unchanged.
 */
function textWithoutManagers(resource: ServedResource, json: string): string {
  if (!isPresentForm(resource, json)) return json;
  return withoutMember(json, storedForm(resource).prefix.length - 1, 'managedFields');
}

/**
 * Parses stored JSON for readers that need no `managedFields`. An object stored in an older form may still have them.
 */
export function parseWithoutManagers(resource: ServedResource, json: string): ApiObject {
  return parseText(resource, textWithoutManagers(resource, json));
}

/**
 * The object in stored JSON, for readers that need no `managedFields`, see {@link parseWithoutManagers}. An object that
 * is large without them is read in turns with everything else.
 */
export function readWithoutManagers(
  registry: StoredResources,
  { key, json }: Pick<StoredObject, 'key' | 'json'>,
): ApiObject | Promise<ApiObject> {
  const resource = registry.findStored(key.resource);
  const text = resource === undefined ? json : textWithoutManagers(resource, json);
  const stored = { key, json: text };
  return text.length > atOnceBytes ? readStoredInTurns(registry, stored) : decodeStored(registry, stored);
}
