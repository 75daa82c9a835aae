/**
 * Shows a value in an error message the way existing clients know it: strings quoted, numbers and booleans bare, absent
 * as `null`, string lists as `[]string{"a"}`, anything else as compact JSON.
 */
export function formatGoValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > shownLength ? value.slice(0, shownLength) : value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) {
    const shown = value.length > shownElements ? value.slice(0, shownElements) : value;
    return `[]string{${shown.map((v) => JSON.stringify(v.slice(0, shownLength))).join(', ')}}`;
  }
  return JSON.stringify(value);
}

/** More characters of a text, or elements of a list, are cut off: messages show that much at most. */
const shownLength = 8192;
const shownElements = 1000;
