import { StatusError } from '../../../base/machinery/status-error.js';

/** The 400 for a body of the right kind in another version. */
export class OtherVersionError extends StatusError {
  constructor(message: string) {
    super('BadRequest', message);
  }
}
