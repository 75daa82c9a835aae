import { canonicalText, scalarKey } from './comparison.js';
import { isRecord, type JsonRecord } from './json-objects.js';
import type { StructuralSchema } from './structural-schema.js';

/** The value of a key of an item, as if defaults were filled in. */
export function keyValue(schema: StructuralSchema, item: JsonRecord, name: string): unknown {
  return Object.hasOwn(item, name) ? item[name] : schema.items?.properties.get(name)?.default;
}

/** A Map key that is equal for items of a list map with the same keys. Undefined for anything that is not an object. */
export function itemKey(schema: StructuralSchema, item: unknown): unknown {
  if (!isRecord(item)) return undefined;
  const names = schema.xListMapKeys;
  if (names.length === 1) {
    const value = keyValue(schema, item, names[0] as string);
    if (typeof value === 'string' && !value.startsWith('\u0000')) return value;
  }
  // The leading NUL distinguishes these keys from a single string key, which is returned as it is only without one.
  return `\u0000${names.map((name) => keyText(keyValue(schema, item, name))).join('\u0000')}`;
}

function keyText(value: unknown): string {
  return value === undefined ? 'absent' : canonicalText(scalarKey(value));
}

/** Indexes the items of an old list map by their keys; the returned function finds the old item for a new one. */
export function oldItems(schema: StructuralSchema, old: readonly unknown[]): (item: unknown) => unknown {
  const byKey = new Map<unknown, unknown>();
  for (const item of old) {
    const key = itemKey(schema, item);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return (item) => {
    const key = itemKey(schema, item);
    return key === undefined ? undefined : byKey.get(key);
  };
}
