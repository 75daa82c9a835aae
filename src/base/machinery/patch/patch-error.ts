import { exceedsDepth, maxDepth } from '../schema/index.js';
import { StatusError } from '../status-error.js';

/** Why a patch can't be applied; empty for an answer with the code 500. */
export type PatchErrorReason = '' | 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge';

/** The message for a well-formed JSON patch that does not fit the object; clients compare it whole. */
export const unprocessablePatchMessage = 'the server rejected our request due to an error in our request';

/** A patch that can't be applied; the object is unchanged. Sent to the client like any status error. */
export class PatchError extends StatusError {
  /** Whether a `test` of a JSON patch found another value: its author then did not want the patch to be applied. */
  isFailedTest = false;
  override readonly reason: PatchErrorReason;

  /** @param fault the problem, for logs and for code that applies the patches of others; not part of the answer */
  constructor(
    reason: PatchErrorReason,
    message: string,
    readonly fault = message,
  ) {
    super(reason, message, reason === 'Invalid' ? { details: {} } : {});
    this.name = 'PatchError';
    this.reason = reason;
  }
}

/** Refuses a patch that is nested more deeply than any object may be, so no patch can exhaust the stack. */
export function checkDepth(patch: unknown): void {
  if (exceedsDepth(patch, maxDepth)) {
    throw new PatchError('BadRequest', `the patch is nested deeper than ${maxDepth} levels`);
  }
}
