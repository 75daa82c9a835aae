import { jsonFields, orderedText, resolveType, type SchemaType } from '../../../base/machinery/schema/index.js';

/**
 * The JSON of a patched object for an error message. Unchanged parts have their fields in declared order; the members
 * of changed parts are sorted by name.
 */
export function patchedText(type: SchemaType, patched: unknown, live: object): string {
  const kept = new Map<unknown, SchemaType | undefined>();
  collect(type, live, kept);
  return textOf(patched, kept);
}

/** The objects and lists in the live object, with their types. Parts of custom objects have none. */
function collect(type: SchemaType | undefined, value: unknown, into: Map<unknown, SchemaType | undefined>): void {
  if (typeof value !== 'object' || value === null) return;
  into.set(value, type);
  const resolved = type === undefined ? undefined : resolveType(type);
  for (const [key, child] of Object.entries(value)) {
    if (resolved?.type === 'list') collect(resolved.element, child, into);
    else if (resolved?.type === 'map') collect(resolved.value, child, into);
    else if (resolved?.type === 'struct' && resolved.custom === undefined) {
      collect(jsonFields(resolved).get(key)?.type, child, into);
    } else collect(undefined, child, into);
  }
}

function textOf(value: unknown, kept: ReadonlyMap<unknown, SchemaType | undefined>): string {
  if (kept.has(value)) return orderedText(kept.get(value), value);
  return orderedText(undefined, value, (part) => (kept.has(part) ? orderedText(kept.get(part), part) : undefined));
}
