import type { RequestContext } from '../machinery/request-context.js';

/** Texts and bodies up to this are never large: nothing done with one takes noticeable time. */
export const largeBytes = 64 * 1024;
/** What makes a text large; tests make everything so. */
export const largeLimits = {
  /** Never up to this length. */
  small: largeBytes,
  /** Always above this. */
  long: 1536 * 1024,
  /**
   * Between the two it counts what a text is made of: one long string costs little, a thousand small values a lot. So many
   * characters may stand outside of strings, quotes included; a text that is small can have that many as well.
   */
  structure: 32 * 1024,
  /** A list with a larger object is made in another thread: one a little large is no reason to take all others there. */
  listItem: 256 * 1024,
  /** A longer list that is written as one value is written in another thread. */
  wholeList: 1024 * 1024,
};

/** Thrown where a request turns out to be about something large. Nothing has been written for it yet. */
export class LargeWork extends Error {
  override readonly name = 'LargeWork';

  constructor() {
    super('the request is about something large');
  }
}

type Leaving = Pick<RequestContext, 'canLeave' | 'isCostly'>;

/** Gives a request up that can be done in another thread when a stored object would have to be parsed that is large. */
export function leaveLarge(context: Leaving, json: string): void {
  if (context.canLeave === true && isLarge(json, context.isCostly === true)) throw new LargeWork();
}

/** The same for a body. */
export function leaveLargeBody(context: Leaving, body: Buffer): void {
  if (context.canLeave !== true || body.length <= largeLimits.small) return;
  // As a string of one byte per character: nothing that is looked for is made of more.
  if (context.isCostly === true || body.length > largeLimits.long || isLarge(body.toString('latin1'), false))
    throw new LargeWork();
}

/** The same for work on text of so many characters, whatever is in it. */
export function leaveLong(context: Leaving, characters: number): void {
  if (context.canLeave === true && characters > largeLimits.small) throw new LargeWork();
}

/**
 * Whether noticeable time goes into parsing a JSON text and into what is done with its value.
 *
 * @param isCostly when each character costs, and not only each value
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
      // Never closed: no JSON, which is found out at once.
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
