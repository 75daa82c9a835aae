import { isRecord, type JsonRecord, setMember, sortedCopy } from './json-objects.js';
import type { StructuralSchema } from './structural-schema.js';

/**
 * The value with the defaults of its schema, in every object that is there; a default that is an object is filled in
 * turn. A null of a field that is not nullable is replaced by its default. Without one the field is dropped, while a
 * list keeps its null for {@link validateValue} to refuse. Sorted keys stay sorted, and kind, apiVersion and metadata
 * stay first.
 *
 * Changes nothing in place: the result is the value itself when nothing is missing, and shares with it what did not
 * change. Defaults are copied deeply. Takes time linear in the value and what it is filled with, and looks only at parts
 * that have defaults.
 */
export function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (!schema.hasDefaults || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return schema.items === undefined ? value : filledList(schema.items, value);
  return isRecord(value) ? filledObject(schema, value) : value;
}

function filledList(items: StructuralSchema, list: readonly unknown[]): unknown {
  let copy: unknown[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const element = list[i];
    const isReplaced = element === null && items.default !== undefined && !items.nullable;
    const filled = withDefaults(items, isReplaced ? sortedCopy(items.default) : element);
    if (filled === element) continue;
    copy ??= list.slice();
    copy[i] = filled;
  }
  return copy ?? list;
}

function filledObject(schema: StructuralSchema, object: JsonRecord): unknown {
  const { properties, additionalProperties } = schema;
  const additional = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  /** What changes: new values by key. */
  let changes: Map<string, unknown> | undefined;
  for (const key in object) {
    const member = object[key];
    const property = properties.get(key) ?? additional;
    if (property === undefined) continue;
    const isReplaced = member === null && !property.nullable;
    if (!isReplaced && !property.hasDefaults) continue;
    const filled = withDefaults(property, isReplaced ? sortedCopy(property.default) : member);
    if (filled === member) continue;
    changes ??= new Map();
    changes.set(key, filled);
  }
  let hasNewKeys = false;
  for (const [key, property] of properties) {
    if (property.default === undefined || Object.hasOwn(object, key)) continue;
    hasNewKeys = true;
    changes ??= new Map();
    changes.set(key, withDefaults(property, sortedCopy(property.default)));
  }
  return changes === undefined ? object : withChanges(object, changes, hasNewKeys);
}

/** `undefined` among the changes drops the field. */
function withChanges(object: JsonRecord, changes: ReadonlyMap<string, unknown>, hasNewKeys: boolean): JsonRecord {
  let keys = Object.keys(object);
  if (hasNewKeys) {
    for (const key of changes.keys()) if (!Object.hasOwn(object, key)) keys.push(key);
    keys = inOrder(keys, Object.keys(object));
  }
  const copy: JsonRecord = {};
  for (const key of keys) {
    const value = changes.has(key) ? changes.get(key) : object[key];
    if (value !== undefined) setMember(copy, key, value);
  }
  return copy;
}

/** The keys sorted, behind kind, apiVersion and metadata if they stood first before. */
function inOrder(keys: string[], before: readonly string[]): string[] {
  let head = 0;
  while (head < 3 && isHead(before[head])) head++;
  return [...keys.slice(0, head), ...keys.slice(head).sort()];
}

function isHead(key: string | undefined): boolean {
  return key === 'kind' || key === 'apiVersion' || key === 'metadata';
}
