import { jsonFields, resolveType } from './access.js';
import type { KindType, SchemaType } from './types.js';

/**
 * The bodies of objects that were decoded from one with empty lists. The canonical form does not tell them from absent
 * ones, but messages and owners of fields do.
 */
const bodies = new WeakMap<object, unknown>();

export function rememberBody(object: object, body: unknown): void {
  bodies.set(object, body);
}

/** The body that an object was decoded from, if it had empty lists; undefined also for a copy of the object. */
export function givenBody(object: object): unknown {
  return bodies.get(object);
}

/** The member of a value from a body; undefined for a missing one, and for values without members. */
export function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

export function isEmptyList(value: unknown): value is readonly never[] {
  return Array.isArray(value) && value.length === 0;
}

/**
 * The paths of the fields outside of lists and maps that are always present, and that a body has as empty lists.
 *
 * @param body of an object of the kind
 */
export function emptyListPaths(kind: KindType, body: unknown): readonly (readonly string[])[] {
  const found: string[][] = [];
  const visit = (type: SchemaType, value: unknown, path: readonly string[]): void => {
    const resolved = resolveType(type);
    if (resolved.type !== 'struct' || resolved.custom !== undefined) return;
    for (const field of jsonFields(resolved).values()) {
      const member = memberOf(value, field.name);
      if (member === undefined) continue;
      const isAlways = field.presence === 'required' || field.presence === 'always';
      if (isAlways && isEmptyList(member)) found.push([...path, field.name]);
      else visit(field.type, member, [...path, field.name]);
    }
  };
  visit(kind, body, []);
  return found;
}
