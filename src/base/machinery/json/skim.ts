import { endOfString } from './nesting.js';

/** A top-level member up to this length, in characters, is kept whole. */
const wholeMember = 64 * 1024;
/** In a longer member, values one level below are kept up to this length. */
const wholeValue = 16 * 1024;
/** The most values one level below that are considered. */
const mostValues = 1000;

/**
 * The parts of a large object that selectors read: its members, and only the short values of long members. Everything
 * else is skipped without parsing. Paths in `always` are never skipped. The text must be JSON of an object, as
 * JSON.stringify writes it.
 */
export function skimObject(text: string, always: readonly string[]): Record<string, unknown> {
  return skim(text, text.indexOf('{'), '', wholeMember, always);
}

/**
 * The text of a member of the object that begins at `start`; undefined when the object has no member of that name.
 * Everything before it is skipped without parsing. The text must be JSON as JSON.stringify writes it, and the name must
 * need no escapes.
 */
export function memberText(text: string, start: number, name: string): string | undefined {
  const found = findMember(text, start, name);
  return found === undefined ? undefined : text.slice(found.value, found.end);
}

/** The text without a member of the object that begins at `start`; see {@link memberText}. */
export function withoutMember(text: string, start: number, name: string): string {
  const found = findMember(text, start, name);
  if (found === undefined) return text;
  if (text.charCodeAt(found.end) === comma) return text.slice(0, found.key) + text.slice(found.end + 1);
  const isFirst = found.key === start + 1;
  return text.slice(0, isFirst ? found.key : found.key - 1) + text.slice(found.end);
}

/**
 * Where a member is in a text: the index of its name's opening quote, the beginning of its value, and the index after
 * the value.
 */
interface MemberPlace {
  readonly key: number;
  readonly value: number;
  readonly end: number;
}

function findMember(text: string, start: number, name: string): MemberPlace | undefined {
  let key = start + 1;
  while (text.charCodeAt(key) === quote) {
    const keyEnd = endOfString(text, key);
    const value = keyEnd + 2;
    const end = endOfValue(text, value);
    if (keyEnd - key - 1 === name.length && text.startsWith(name, key + 1)) return { key, value, end };
    key = end + 1;
  }
  return undefined;
}

function skim(
  text: string,
  start: number,
  path: string,
  whole: number,
  always: readonly string[],
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  let i = start + 1;
  for (let count = 0; count < mostValues; count++) {
    while (text.charCodeAt(i) <= space || text.charCodeAt(i) === comma) i++;
    if (text.charCodeAt(i) !== quote) break;
    const keyEnd = endOfString(text, i);
    const key = JSON.parse(text.slice(i, keyEnd + 1)) as string;
    const valueStart = keyEnd + 2;
    const end = endOfValue(text, valueStart);
    const own = path === '' ? key : `${path}.${key}`;
    if (end - valueStart <= whole || always.includes(own)) {
      set(result, key, JSON.parse(text.slice(valueStart, end)));
    } else if (path === '' && text.charCodeAt(valueStart) === openBrace) {
      set(result, key, skim(text, valueStart, own, wholeValue, always));
    }
    i = end;
  }
  return result;
}

function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
}

const space = 0x20;
const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The index after the value that begins at `start`. */
export function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      i = endOfShortString(text, i);
      if (depth === 0) return i + 1;
    } else if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) {
      if (depth === 0) return i;
      if (--depth === 0) return i + 1;
    } else if (code === comma && depth === 0) return i;
  }
  return text.length;
}

/** Most names and values are shorter, in characters. To search for their end by a call takes longer than to look. */
const shortString = 48;

/** Like {@link endOfString}. */
function endOfShortString(text: string, start: number): number {
  const last = Math.min(text.length, start + shortString);
  for (let i = start + 1; i < last; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) return i;
    if (code === backslash) i++;
  }
  return endOfString(text, start);
}
