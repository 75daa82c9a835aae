import { StatusError } from '../../../base/machinery/status-error.js';

/** Thrown when defaults would make a value many times larger than it was. */
export class TooManyDefaultsError extends StatusError {
  constructor() {
    super('RequestEntityTooLarge', 'Request entity too large: the defaults of its schema would make it much larger');
  }
}
