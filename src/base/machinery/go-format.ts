/**
 * Formats a value for an error message as existing clients expect: strings quoted, numbers and booleans bare, an absent
 * value as `null`, everything else as compact JSON.
 */
export function formatGoValue(value: unknown): string {
  if (typeof value === 'string') return quoted(value.length > shownLength ? value.slice(0, shownLength) : value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) {
    const shown = value.length > shownElements ? value.slice(0, shownElements) : value;
    return JSON.stringify(shown.map((v) => v.slice(0, shownLength)));
  }
  // Go's JSON encoder escapes the characters that are HTML markup.
  return JSON.stringify(value)?.replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

const shortEscapes: Readonly<Record<string, string>> = { '07': '\\a', '0b': '\\v' };

/** A string in quotes, with the escapes of Go, which differ from those of JSON for some control characters. */
function quoted(value: string): string {
  const text = JSON.stringify(value);
  if (!/\\u00[01]|\x7f/.test(text)) return text;
  return text
    .replaceAll(/\\\\|\\u00([01][0-9a-f])/g, (found, code?: string) =>
      code === undefined ? found : (shortEscapes[code] ?? `\\x${code}`),
    )
    .replaceAll('\x7f', '\\x7f');
}

/** The most characters of a string, and elements of a list, that a message shows. */
const shownLength = 8192;
const shownElements = 1000;
