import type { ApiObject } from '../api-object.js';
import {
  claimedPaths,
  compareObjects,
  difference,
  emptySet,
  type FieldSet,
  formFaults,
  mergeObjects,
  rootView,
} from '../field-set/index.js';
import { parseJson } from '../json/exact-numbers.js';
import { getOwn, isObject, type JsonObject } from '../patch/json-value.js';
import type { KindType } from '../schema/index.js';
import { StatusError } from '../status-error.js';
import { prepareApplied } from './applied-config.js';

/** The manager whose server-side apply continues its earlier client-side apply. */
export const clientSideManager = 'kubectl';

/**
 * The fields that the last client-side apply set and that nobody has changed since; none if the annotation is missing
 * or unusable.
 */
export function allowedConflicts(type: KindType, live: ApiObject, annotation: string): FieldSet {
  const text = getOwn(live.metadata.annotations ?? {}, annotation);
  const config = typeof text === 'string' ? parseRecord(type, text) : undefined;
  if (config === undefined) return emptySet;
  const view = rootView(type);
  const { changed } = compareObjects(view, live, mergeObjects(view, live, config));
  return difference(claimedPaths(view, config), changed);
}

function parseRecord(type: KindType, text: string): JsonObject | undefined {
  try {
    const config = parseJson(text);
    if (!isObject(config) || formFaults(rootView(type), config, true).length > 0) return undefined;
    return prepareApplied(type, config);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof StatusError) return undefined;
    throw error;
  }
}

/** If the live object has the annotation, records the new configuration in it, so that the client can switch back. */
export function recordLastApplied(live: ApiObject, next: ApiObject, config: JsonObject, annotation: string): ApiObject {
  if (getOwn(live.metadata.annotations ?? {}, annotation) === undefined) return next;
  const annotations = { ...next.metadata.annotations, [annotation]: `${JSON.stringify(sorted(config))}\n` };
  return { ...next, metadata: { ...next.metadata, annotations } };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
