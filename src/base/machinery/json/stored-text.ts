import { parseExactJson, stringifyNoting } from './exact-numbers.js';
import { hasSurrogateEscape, plainJson } from './plain-json.js';

/**
 * Ends stored text with numbers that need care in parsing, so that no reader has to look for them. White space after an
 * object has no meaning in JSON, and the store keeps text unchanged.
 */
const exactNumbersMark = ' ';

/**
 * Ends such text when its numbers are in the form that every client reads. Texts of earlier releases, which kept
 * numbers as they were sent, have only the mark above.
 */
const checkedNumbersMark = `\n${exactNumbersMark}`;

/** Whether stored text has numbers that only parseExactJson preserves. */
export function needsExactParsing(text: string): boolean {
  return text.endsWith(exactNumbersMark);
}

/**
 * Text of an object for the store, as every client reads it: see {@link plainJson}. Values that need no change, which
 * are almost all, cost one scan of the text.
 *
 * @throws ValueFormatError for a number beyond all doubles
 */
export function toStoredText(object: object): string {
  let { text, hasExactNumbers } = stringifyNoting(object);
  if (hasExactNumbers || hasSurrogateEscape(text)) {
    ({ text, hasExactNumbers } = stringifyNoting(plainJson(object)));
  }
  return hasExactNumbers ? text + checkedNumbersMark : text;
}

/**
 * Stored text as it would be written today. Earlier releases stored numbers as they were sent (`1e400`, `1.0`) and lone
 * surrogates, which some clients refuse: one object with them ended every list. For text without them, which is almost
 * all, this costs a check of its end and a search for escapes of surrogates. Numbers beyond all doubles become the
 * largest.
 */
export function readableStoredText(text: string): string {
  const isUnchecked = text.endsWith(exactNumbersMark) && !text.endsWith(checkedNumbersMark);
  if (!isUnchecked && !hasSurrogateEscape(text)) return text;
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    // Readers of the text report invalid JSON.
    if (error instanceof SyntaxError) return text;
    throw error;
  }
  const { text: plain, hasExactNumbers } = stringifyNoting(plainJson(value, 'clamp'));
  // The white space at the beginning shows by which schema or defaults the text was completed.
  const start = /^\{?[ \t\n\r]*/.exec(text)?.[0] ?? '';
  return start + plain.slice(start.startsWith('{') ? 1 : 0) + (hasExactNumbers ? checkedNumbersMark : '');
}
