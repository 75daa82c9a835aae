import type { Steps } from '../turns.js';
import { endOfString } from './nesting.js';

/** Where a value is in a text. */
export interface TextRange {
  readonly start: number;
  /** The index after the value. */
  readonly end: number;
}

/** The most characters and values in one step. */
const atOnce = 50_000;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * Visits the members of the JSON object that begins at `start`, and returns where it ends. Values are skipped unread, so
 * faults inside of them remain unnoticed.
 *
 * @param visit gets the name between its quotes, with its escapes, unless that is longer than `longestName`
 * @throws SyntaxError when the text is no object of members
 */
export function* objectMembers(
  text: string,
  start: number,
  visit: (name: string, value: TextRange) => void,
  longestName = 64,
): Steps<number> {
  return yield* parts(text, start, openBrace, closeBrace, function* (at) {
    if (text.charCodeAt(at) !== quote) throw fault();
    const nameEnd = endOfString(text, at);
    const separator = afterSpace(text, nameEnd + 1);
    if (text.charCodeAt(separator) !== colon) throw fault();
    const value = yield* rangeOfValue(text, afterSpace(text, separator + 1));
    if (nameEnd - at - 1 <= longestName) visit(text.slice(at + 1, nameEnd), value);
    return value.end;
  });
}

/** Visits the items of the JSON array that begins at `start`, like {@link objectMembers}. */
export function* arrayItems(text: string, start: number, visit: (value: TextRange) => void): Steps<number> {
  return yield* parts(text, start, openBracket, closeBracket, function* (at) {
    const value = yield* rangeOfValue(text, at);
    visit(value);
    return value.end;
  });
}

/** Whether an object begins there. */
export function isObjectAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === openBrace;
}

/** Whether an array begins there. */
export function isArrayAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === openBracket;
}

/** The index after white space. */
export function afterSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function* parts(
  text: string,
  start: number,
  open: number,
  close: number,
  part: (at: number) => Steps<number>,
): Steps<number> {
  if (text.charCodeAt(start) !== open) throw fault();
  let at = afterSpace(text, start + 1);
  if (text.charCodeAt(at) === close) return at + 1;
  for (let count = 1; ; count++) {
    at = afterSpace(text, yield* part(at));
    const code = text.charCodeAt(at);
    if (code === close) return at + 1;
    if (code !== comma) throw fault();
    at = afterSpace(text, at + 1);
    if (count % 1_000 === 0) yield;
  }
}

function* rangeOfValue(text: string, start: number): Steps<TextRange> {
  let depth = 0;
  for (let i = start, next = start + atOnce; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === openBrace || code === openBracket) depth++;
    else if (code === closeBrace || code === closeBracket) depth--;
    else if (depth > 0 || !isEndOfLiteral(text, i)) continue;
    if (depth < 0) break;
    if (depth === 0) return { start, end: i + 1 };
    if (i < next) continue;
    yield;
    next = i + atOnce;
  }
  throw fault();
}

/** Whether a number or a word ends with this character. */
function isEndOfLiteral(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1);
  return next === comma || next === closeBrace || next === closeBracket || isSpace(next);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function fault(): SyntaxError {
  return new SyntaxError('the text is not JSON');
}
