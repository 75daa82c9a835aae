import type { Budget } from '../budget.js';
import { CelError } from '../cel-error.js';
import type { Evaluation } from '../evaluation.js';
import type { LibraryBuilder } from '../function-table.js';
import { listOf, types } from '../values/cel-type.js';
import { type JsonList, ListValue, listItems } from '../values/value.js';
import { textLength } from './basics.js';
import { formatText } from './format-text.js';

const { dyn, int, string } = types;
const texts = listOf(string);

/** A string as code points; unchanged if each of its UTF-16 units is one. */
function points(text: string): readonly string[] | string {
  return textLength(text) === text.length ? text : [...text];
}

function slice(text: readonly string[] | string, from: number, to: number): string {
  return typeof text === 'string' ? text.slice(from, to) : text.slice(from, to).join('');
}

function position(index: bigint, length: number): number {
  if (index < 0n || index > BigInt(length)) throw new CelError(`index out of range: ${index}`);
  return Number(index);
}

/** Place of `part` at or after `from`, or at or before it, in code points; -1 if there is none. */
function indexOf(
  { budget }: Evaluation,
  text: string,
  part: string,
  from: bigint | undefined,
  isLast: boolean,
): bigint {
  chargeSearch(budget, text, part);
  const own = points(text);
  if (part === '' && from === undefined) return isLast ? BigInt(own.length) : 0n;
  const start = from === undefined ? (isLast ? own.length : 0) : position(from, own.length);
  const offset = typeof own === 'string' ? start : own.slice(0, start).join('').length;
  const found = isLast ? text.lastIndexOf(part, offset) : text.indexOf(part, offset);
  if (found < 0 || typeof own === 'string') return BigInt(found);
  return BigInt(textLength(text.slice(0, found)));
}

/** Searching takes at most the product of both lengths. */
function chargeSearch(budget: Budget, text: string, part: string): void {
  budget.charge(Math.ceil(text.length * 0.1) * Math.max(1, Math.ceil(part.length * 0.1)));
}

function replace({ budget }: Evaluation, text: string, old: string, by: string, limit: bigint): string {
  chargeSearch(budget, text, old);
  let left = limit < 0n || limit > BigInt(text.length + 1) ? text.length + 1 : Number(limit);
  const parts: string[] = [];
  let at = 0;
  const characters = old === '' ? points(text) : undefined;
  if (characters !== undefined) {
    for (let i = 0; i <= characters.length; i++) {
      if (left-- > 0) {
        budget.chargeText(by.length + 1);
        parts.push(by);
      }
      if (i < characters.length) parts.push(characters[i] as string);
    }
    return parts.join('');
  }
  while (left-- > 0) {
    const found = text.indexOf(old, at);
    if (found < 0) break;
    budget.chargeText(found - at + by.length + 1);
    parts.push(text.slice(at, found), by);
    at = found + old.length;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

function split({ budget }: Evaluation, text: string, separator: string, limit: bigint): ListValue {
  chargeSearch(budget, text, separator);
  if (limit === 0n) return new ListValue([]);
  const all = separator === '' ? [...text] : text.split(separator);
  budget.charge(all.length);
  if (limit < 0n || BigInt(all.length) <= limit) return new ListValue(all);
  const count = Number(limit) - 1;
  return new ListValue([...all.slice(0, count), all.slice(count).join(separator)]);
}

function join({ budget }: Evaluation, list: ListValue | JsonList, separator: string): string {
  const items = listItems(list);
  for (const item of items) {
    if (typeof item !== 'string') throw new CelError('join: elements must be strings');
    budget.charge(1);
    budget.chargeText(item.length + separator.length);
  }
  return items.join(separator);
}

function mapAscii(pattern: RegExp, change: (part: string) => string) {
  return ({ budget }: Evaluation, text: string): string => {
    budget.chargeText(text.length);
    return text.replace(pattern, change);
  };
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** String functions beyond the basic ones. Positions in strings count code points. */
export function strings(library: LibraryBuilder): void {
  searches(library);
  lists(library);
  changes(library);
  parts(library);
}

function searches(library: LibraryBuilder): void {
  library
    .method('charAt', [string, int], string, ({ budget }, text: string, index: bigint) => {
      budget.chargeText(text.length);
      const own = points(text);
      const at = position(index, own.length);
      return slice(own, at, at + 1);
    })
    .method('indexOf', [string, string], int, (e, text: string, part: string) =>
      indexOf(e, text, part, undefined, false),
    )
    .method('indexOf', [string, string, int], int, (e, text: string, part: string, from: bigint) =>
      indexOf(e, text, part, from, false),
    )
    .method('lastIndexOf', [string, string], int, (e, text: string, part: string) =>
      indexOf(e, text, part, undefined, true),
    )
    .method('lastIndexOf', [string, string, int], int, (e, text: string, part: string, from: bigint) =>
      indexOf(e, text, part, from, true),
    );
}

function lists(library: LibraryBuilder): void {
  library
    .method('join', [texts], string, (e, list: ListValue) => join(e, list, ''))
    .method('join', [texts, string], string, (e, list: ListValue, separator: string) => join(e, list, separator))
    .method('split', [string, string], texts, (e, text: string, separator: string) => split(e, text, separator, -1n))
    .method('split', [string, string, int], texts, (e, text: string, separator: string, limit: bigint) =>
      split(e, text, separator, limit),
    );
}

function changes(library: LibraryBuilder): void {
  library
    .method(
      'lowerAscii',
      [string],
      string,
      mapAscii(/[A-Z]+/g, (part) => part.toLowerCase()),
    )
    .method(
      'upperAscii',
      [string],
      string,
      mapAscii(/[a-z]+/g, (part) => part.toUpperCase()),
    )
    .method('replace', [string, string, string], string, (e, text: string, old: string, by: string) =>
      replace(e, text, old, by, -1n),
    )
    .method(
      'replace',
      [string, string, string, int],
      string,
      (e, text: string, old: string, by: string, limit: bigint) => replace(e, text, old, by, limit),
    )
    .method('format', [string, listOf(dyn)], string, ({ budget }, text: string, args: ListValue | JsonList) =>
      formatText(text, listItems(args), budget),
    )
    .fn('strings.quote', [string], string, ({ budget }, text: string) => {
      budget.charge(text.length);
      return `"${Array.from(text.toWellFormed(), (c) => escapes[c] ?? c).join('')}"`;
    });
}

function parts(library: LibraryBuilder): void {
  library
    .method('substring', [string, int], string, ({ budget }, text: string, from: bigint) => {
      budget.chargeText(text.length);
      const own = points(text);
      return slice(own, position(from, own.length), own.length);
    })
    .method('substring', [string, int, int], string, ({ budget }, text: string, from: bigint, to: bigint) => {
      budget.chargeText(text.length);
      const own = points(text);
      const start = position(from, own.length);
      const end = position(to, own.length);
      if (start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
      return slice(own, start, end);
    })
    .method('trim', [string], string, ({ budget }, text: string) => {
      budget.chargeText(text.length);
      return trim(text);
    });
}

function trim(text: string): string {
  const isSpace = (at: number): boolean => /[\s\u0085]/.test(text[at] as string) && text[at] !== '\ufeff';
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.slice(start, end);
}
