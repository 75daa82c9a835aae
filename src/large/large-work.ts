import type { RequestContext } from '../machinery/request-context.js';

/** Texts and bodies above this are read in another thread: below, nothing done with one takes noticeable time. */
export const largeBytes = 64 * 1024;

/** Thrown where a request turns out to be about something large. Nothing has been written for it yet. */
export class LargeWork extends Error {
  override readonly name = 'LargeWork';

  constructor() {
    super('the request is about something large');
  }
}

/** Gives a request up that can be done in another thread when text of `length` characters would have to be parsed. */
export function leaveLarge(context: Pick<RequestContext, 'canLeave'>, length: number): void {
  if (length > largeBytes && context.canLeave === true) throw new LargeWork();
}
