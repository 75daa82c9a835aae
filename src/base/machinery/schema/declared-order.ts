import { ExactNumber } from '../json/exact-numbers.js';
import { jsonFields, resolveType } from './access.js';
import type { SchemaType } from './types.js';

/**
 * The JSON of a value with the fields of structs in declared order, as the API's release writes it, and the keys of maps
 * and of custom values sorted. Fields that are not declared come last. Objects and lists for which `textOf` returns a
 * text are written as that text.
 */
export function orderedText(
  type: SchemaType | undefined,
  value: unknown,
  textOf: (value: object) => string | undefined = () => undefined,
): string {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return JSON.stringify(value) ?? 'null';
  const own = textOf(value);
  if (own !== undefined) return own;
  const resolved = type === undefined ? undefined : resolveType(type);
  if (Array.isArray(value)) {
    const element = resolved?.type === 'list' ? resolved.element : undefined;
    return `[${value.map((item) => orderedText(element, item, textOf)).join(',')}]`;
  }
  if (resolved?.type === 'scalar') return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const texts = memberOrder(resolved, members).map(
    ([key, below]) => `${JSON.stringify(key)}:${orderedText(below, members[key], textOf)}`,
  );
  return `{${texts.join(',')}}`;
}

type Member = readonly [key: string, type: SchemaType | undefined];

function memberOrder(type: SchemaType | undefined, members: Readonly<Record<string, unknown>>): Member[] {
  const given = Object.keys(members).filter((key) => members[key] !== undefined);
  if (type?.type !== 'struct' || type.custom !== undefined) {
    const value = type?.type === 'map' ? type.value : undefined;
    return given.sort().map((key) => [key, value]);
  }
  const fields = jsonFields(type);
  const head = type.kind === undefined ? [] : ['kind', 'apiVersion'];
  const known = [...head, ...fields.keys()].filter((key) => members[key] !== undefined);
  const others = given.filter((key) => !fields.has(key) && !head.includes(key)).sort();
  return [...known, ...others].map((key) => [key, fields.get(key)?.type]);
}
