import { StatusError } from '../../../base/machinery/status-error.js';

/** The 400 for a body of the right kind in another version. */
export class OtherVersionError extends StatusError {
  constructor(
    message: string,
    /** Whether the kind is known in that version, too: what a patch leaves may be in it. */
    readonly isKnown = false,
  ) {
    super('BadRequest', message);
  }
}
