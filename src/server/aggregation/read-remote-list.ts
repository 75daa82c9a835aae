import {
  afterSpace,
  arrayItems,
  isArrayAt,
  isObjectAt,
  objectMembers,
  type TextRange,
} from '../../base/machinery/json/scan-in-steps.js';
import { inTurns, type Steps } from '../../base/machinery/turns.js';

/** The parts of a list response that the deletion of a namespace needs. */
export interface Listed {
  /** Names of the first objects. An object without a name must not be deleted: its path would be that of all. */
  readonly names: readonly string[];
  /** Finalizers of the first objects. */
  readonly finalizers: readonly string[];
  /** Number of objects. */
  readonly count: number;
}

const nothing: Listed = Object.freeze({ names: [], finalizers: [], count: 0 });
/** The longest name or list of finalizers that is read, in characters. */
const longest = 64 * 1024;

/**
 * Reads the list that an extension server answered with, in turns with other work. It is never parsed as a whole: few
 * bytes may be very many values. A response that is not a list has no objects.
 *
 * @param most of so many objects at most, the names and finalizers are read
 * @throws SyntaxError for text that is not JSON
 */
export function readRemoteList(text: string, most: number): Promise<Listed> {
  return inTurns(listed(text, most));
}

function* listed(text: string, most: number): Steps<Listed> {
  const start = afterSpace(text, 0);
  if (!isObjectAt(text, start)) {
    // Anything else is no list, if it is JSON at all.
    if (text.length <= longest) JSON.parse(text);
    return nothing;
  }
  const { items, metadata } = yield* membersOf(text, { start, end: text.length }, ['items', 'metadata']);
  const first: TextRange[] = [];
  let count = 0;
  if (items !== undefined && isArrayAt(text, items.start)) {
    yield* arrayItems(text, items.start, (item) => {
      if (count++ < most) first.push(item);
    });
  }
  const names: string[] = [];
  const finalizers: string[] = [];
  for (const item of first) {
    const { metadata: own } = yield* membersOf(text, item, ['metadata']);
    const found = yield* membersOf(text, own, ['name', 'finalizers']);
    const called = valueAt(text, found.name);
    if (isText(called)) names.push(called);
    const all = valueAt(text, found.finalizers);
    if (Array.isArray(all)) finalizers.push(...all.filter(isText));
    yield;
  }
  const { remainingItemCount } = yield* membersOf(text, metadata, ['remainingItemCount']);
  const more = valueAt(text, remainingItemCount);
  return { names, finalizers, count: count + (typeof more === 'number' && more > 0 ? more : 0) };
}

function* membersOf<N extends string>(
  text: string,
  range: TextRange | undefined,
  names: readonly N[],
): Steps<{ readonly [Name in N]?: TextRange }> {
  const found: { [Name in N]?: TextRange } = {};
  if (range === undefined || !isObjectAt(text, range.start)) return found;
  yield* objectMembers(text, range.start, (name, value) => {
    const wanted = names.find((one) => one === name);
    if (wanted !== undefined) found[wanted] = value;
  });
  return found;
}

function valueAt(text: string, range: TextRange | undefined): unknown {
  if (range === undefined || range.end - range.start > longest) return undefined;
  return JSON.parse(text.slice(range.start, range.end)) as unknown;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
