import { ExactNumber } from '../json/exact-numbers.js';

/** Formats a JSON value as existing clients know it from patch errors: `map[image:i:2]`, `[a b]`, `<nil>`. */
export function goPrint(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPrint).join(' ')}]`;
  if (typeof value === 'object' && !(value instanceof ExactNumber)) {
    const object = value as Record<string, unknown>;
    const members = Object.keys(object)
      .sort()
      .map((key) => `${key}:${goPrint(object[key])}`);
    return `map[${members.join(' ')}]`;
  }
  return String(value);
}
