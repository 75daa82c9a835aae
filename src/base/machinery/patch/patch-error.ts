import { exceedsDepth, maxDepth } from '../schema/index.js';
import { StatusError } from '../status-error.js';

export type PatchErrorReason = 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge';

/** The start of the message for a well-formed JSON patch that does not fit the object; the reason follows. */
export const unprocessablePatchMessage = 'the server rejected our request due to an error in our request';

/** A patch that can't be applied; the object is unchanged. It is answered like any status error. */
export class PatchError extends StatusError {
  override readonly reason: PatchErrorReason;

  constructor(reason: PatchErrorReason, message: string, detail?: string) {
    const causes = detail === undefined ? [] : [{ reason: 'FieldValueInvalid', message: detail, field: 'patch' }];
    const text = detail === undefined ? message : `${message}: ${detail}`;
    super(reason, text, reason === 'Invalid' ? { details: { causes } } : {});
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
