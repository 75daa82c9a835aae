import type { SelectionPredicate } from './selection-predicate.js';

/**
 * A test of an object's stored text without parsing it: the text of every selected object either does not begin with
 * `prefix`, or contains all `words` and one of `any`. Texts of many other objects also pass.
 */
export interface TextTest {
  readonly prefix: string;
  /** At least one word and at most {@link mostWords}; the longest first. */
  readonly words: readonly string[];
  readonly any: readonly string[] | undefined;
}

/** The most words: searching a text for more words takes longer than sending it. */
export const mostWords = 8;
/** Texts that are not encrypted are JSON objects, so they begin with a brace. */
const plainPrefix = '{';

/**
 * The test of a selection; undefined if there is none. Every stored text was written by JSON.stringify. Values of labels are
 * strings.
 */
export function textTestOf({ labels, fields, source }: SelectionPredicate): TextTest | undefined {
  const words: string[] = [];
  let any: readonly string[] | undefined;
  for (const { key, operator, values } of labels.requirements) {
    const start = `${JSON.stringify(key)}:`;
    const one = values.length === 1;
    if (operator === '!' || operator === '!=' || operator === 'notin') continue;
    if (one && (operator === '=' || operator === 'in')) {
      words.push(start + JSON.stringify(values[0]));
      continue;
    }
    words.push(`${start}"`);
    if (operator === 'in' && values.length <= mostWords) any ??= values.map((value) => start + JSON.stringify(value));
  }
  // A text in an older form is completed before its fields are read, so the value may be missing from the text.
  const { presentPrefix } = source;
  let prefix = plainPrefix;
  for (const { field, equals, value } of fields.requirements) {
    if (!equals || presentPrefix === undefined || field.startsWith('metadata.') || !isString(value)) continue;
    words.push(JSON.stringify(value));
    prefix = presentPrefix;
  }
  if (words.length === 0) return undefined;
  return { prefix, words: words.sort((a, b) => b.length - a.length).slice(0, mostWords), any };
}

/**
 * Whether the value of a field can only come from an equal string: not from a number, a boolean, a missing field, or
 * several strings joined by commas, as the addresses of a pod are.
 */
function isString(value: string): boolean {
  return value !== '' && !value.includes(',') && !/^(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false)$/.test(value);
}
