import type { Steps } from '../turns.js';
import { LazyJson, LazyMembers, madeJson } from './lazy-json.js';

/** Values with at most this many parts are written at once. */
const partsAtOnce = 200;
/** This many characters count as one part. */
const charactersOfPart = 1000;
/** Pieces of text are joined up to this many characters. */
const pieceCharacters = 64 * 1024;

/**
 * Writes a JSON value as JSON.stringify does, in several steps if it is long: `write` receives the pieces of the text
 * in their order. No piece ends within a string. Nothing is written for undefined.
 */
export function* stringifyInSteps(value: unknown, write: (piece: string) => void): Steps {
  let piece = '';
  const put = (text: string) => {
    piece += text;
    if (piece.length < pieceCharacters) return;
    write(piece);
    piece = '';
  };
  yield* putValue(value, put, new Set());
  if (piece !== '') write(piece);
}

/** @param long objects and lists that are known to have many parts */
function* putValue(lazy: unknown, put: (text: string) => void, long: Set<unknown>): Steps {
  if (lazy instanceof LazyMembers) {
    let before = '{';
    for (const [name, member] of lazy.members()) {
      if (member === undefined) continue;
      put(`${before}${JSON.stringify(name)}:`);
      before = ',';
      yield* putValue(member, put, long);
      yield;
    }
    put(before === '{' ? '{}' : '}');
    return;
  }
  const value = madeJson(lazy);
  if (!isLong(value, long)) {
    const text = JSON.stringify(value);
    if (text !== undefined) put(text);
    return;
  }
  const isList = Array.isArray(value);
  let separator = isList ? '[' : '{';
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    const isLeft = member === undefined || typeof member === 'function';
    if (isLeft && !isList) continue;
    put(isList ? separator : `${separator}${JSON.stringify(key)}:`);
    separator = ',';
    if (isLeft) put('null');
    else yield* putValue(member, put, long);
    yield;
  }
  if (separator !== ',') put(separator);
  put(isList ? ']' : '}');
}

/**
 * Checks only a few parts of a value, however many it has, since even listing the members of a large object takes time.
 */
function isLong(value: unknown, long: Set<unknown>): value is object {
  let left = partsAtOnce;
  const count = (part: unknown): void => {
    if (long.has(part)) left = 0;
    left -= part instanceof LazyJson ? partsAtOnce : 1;
    if (typeof part === 'string') left -= Math.floor(part.length / charactersOfPart);
    if (typeof part !== 'object' || part === null || hasOwnText(part) || left <= 0) return;
    if (Array.isArray(part)) {
      for (let i = 0; i < part.length && left > 0; i++) count(part[i]);
    } else {
      for (const key in part) {
        if (left <= 0) break;
        count((part as Record<string, unknown>)[key]);
      }
    }
    if (left <= 0) long.add(part);
  };
  count(value);
  return left <= 0 && typeof value === 'object' && value !== null && !hasOwnText(value);
}

function hasOwnText(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}
