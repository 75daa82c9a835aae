import { parseExactJson, stringifyNoting } from './exact-numbers.js';
import { hasSurrogateEscape, plainJson } from './plain-json.js';

/**
 * Suffix of stored text with numbers that need care in parsing, so that no reader has to search for them. White space
 * after an object has no meaning in JSON, and the store keeps text unchanged.
 */
const exactNumbersMark = ' ';

/**
 * The suffix instead if those numbers are in the form that every client reads alike. Text stored by earlier releases,
 * which kept numbers as they were sent, has only the suffix above.
 */
const checkedNumbersMark = `\n${exactNumbersMark}`;

/** Whether stored text has numbers that only parseExactJson preserves. */
export function needsExactParsing(text: string): boolean {
  return text.endsWith(exactNumbersMark);
}

/**
 * Text of an object for the store, in the form that every client reads alike: see {@link plainJson}. Objects that need
 * no change, which are almost all, cost one scan of the text.
 *
 * @throws ValueFormatError for a number too large for a double
 */
export function toStoredText(object: object): string {
  let { text, hasExactNumbers } = stringifyNoting(object);
  if (hasExactNumbers || hasSurrogateEscape(text)) {
    ({ text, hasExactNumbers } = stringifyNoting(plainJson(object)));
  }
  return hasExactNumbers ? text + checkedNumbersMark : text;
}

/**
 * Converts stored text to what this release would have stored. Earlier releases stored numbers as they were sent
 * (`1e400`, `1.0`) and lone surrogates, which some clients refuse: one object with them made every list fail. For text
 * without them, which is almost all, this costs a check of its end and a search for escaped surrogates. Numbers too
 * large for a double become the largest double.
 */
export function readableStoredText(text: string): string {
  const isUnchecked = text.endsWith(exactNumbersMark) && !text.endsWith(checkedNumbersMark);
  if (!isUnchecked && !hasSurrogateEscape(text)) return text;
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    // Invalid JSON is reported by the code that parses the text.
    if (error instanceof SyntaxError) return text;
    throw error;
  }
  const { text: plain, hasExactNumbers } = stringifyNoting(plainJson(value, 'clamp'));
  // The white space at the beginning encodes which schema or defaults the text was completed with.
  const start = /^\{?[ \t\n\r]*/.exec(text)?.[0] ?? '';
  return start + plain.slice(start.startsWith('{') ? 1 : 0) + (hasExactNumbers ? checkedNumbersMark : '');
}
