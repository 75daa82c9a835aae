/**
 * Formats a value for an error message as existing clients expect: strings quoted, numbers and booleans bare, an absent
 * value as `null`, everything else as compact JSON.
 */
export function formatGoValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > shownLength ? value.slice(0, shownLength) : value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) {
    const shown = value.length > shownElements ? value.slice(0, shownElements) : value;
    return JSON.stringify(shown.map((v) => v.slice(0, shownLength)));
  }
  // Go's JSON encoder escapes the characters that are HTML markup.
  return JSON.stringify(value)?.replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

/** The most characters of a string, and elements of a list, that a message shows. */
const shownLength = 8192;
const shownElements = 1000;
