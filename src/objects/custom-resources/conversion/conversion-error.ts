import { StatusError } from '../../../base/machinery/status-error.js';

/** The 500 for a conversion without a usable response. */
export class ConversionError extends StatusError {
  constructor(message: string, cause: unknown) {
    super('InternalError', message, { cause });
    this.name = 'ConversionError';
  }

  /** Always expected: the webhook is at fault, not the server. */
  override get isExpected(): boolean {
    return true;
  }
}
