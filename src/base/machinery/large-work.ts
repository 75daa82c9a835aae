import type { RequestContext } from './request-context.js';

/** Text and bodies up to this size are never large: no work on them takes noticeable time. */
export const largeBytes = 64 * 1024;
/** Decides which text is large; tests lower the limits so that all text is. */
export const largeLimits = {
  /** Text up to this length is never large. */
  small: largeBytes,
  /** Text above this length is always large. */
  long: 1536 * 1024,
  /**
   * Between the two limits the structure decides: one long string costs little, a thousand small values cost a lot.
   * Text with more characters than this outside of strings, quotes included, is large; small text may contain as many.
   */
  structure: 32 * 1024,
  /**
   * A list with an object above this size is assembled in another thread. For objects a little smaller, moving the
   * whole list would not pay.
   */
  listItem: 256 * 1024,
  /** A list above this size, if written as one value, is written in another thread. */
  wholeList: 1024 * 1024,
};

/** Thrown where a request turns out to involve something large. At this point it has written nothing. */
export class LargeWork extends Error {
  override readonly name = 'LargeWork';

  constructor() {
    super('the request is about something large');
  }
}

type Movable = Pick<RequestContext, 'mayChangeThread' | 'isCostly'>;

/** Interrupts a request that can move to another thread, if it needs a large stored object to be parsed. */
export function throwIfLarge(context: Movable, json: string): void {
  if (context.mayChangeThread === true && isLarge(json, context.isCostly === true)) throw new LargeWork();
}

/** Like {@link throwIfLarge}, for work that has turned out to take long. */
export function throwAsCostly(context: Movable): void {
  if (context.mayChangeThread === true) throw new LargeWork();
}

/** Like {@link throwIfLarge}, for a request body. */
export function throwIfLargeBody(context: Movable, body: Buffer): void {
  if (context.mayChangeThread !== true || body.length <= largeLimits.small) return;
  // One character per byte suffices: all characters that matter here are one byte long.
  if (context.isCostly === true || body.length > largeLimits.long || isLarge(body.toString('latin1'), false))
    throw new LargeWork();
}

/** Like {@link throwIfLarge}, for work on text of a given length, whatever its content. */
export function throwIfLong(context: Movable, characters: number): void {
  if (context.mayChangeThread === true && characters > largeLimits.small) throw new LargeWork();
}

/**
 * Whether parsing a JSON text and working with its value takes noticeable time.
 *
 * @param isCostly whether each character costs time, and not only each value
 */
export function isLarge(json: string, isCostly = false): boolean {
  if (json.length <= largeLimits.small) return false;
  return isCostly || json.length > largeLimits.long || hasMuchStructure(json);
}

function hasMuchStructure(json: string): boolean {
  let left = largeLimits.structure;
  for (let at = 0; at < json.length; ) {
    const begin = json.indexOf('"', at);
    left -= begin < 0 ? json.length - at : begin - at + 2;
    if (left < 0) return true;
    if (begin < 0) return false;
    let end = begin;
    do {
      end = json.indexOf('"', end + 1);
      // An unclosed string is invalid JSON, which parsing detects quickly.
      if (end < 0) return false;
      if (--left < 0) return true;
    } while (isEscaped(json, end));
    at = end + 1;
  }
  return false;
}

function isEscaped(json: string, quote: number): boolean {
  let backslashes = 0;
  while (json.charCodeAt(quote - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
}
