import { plainJson } from '../../../base/machinery/json/plain-json.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { ValueFormatError } from '../../../base/machinery/values/value-format-error.js';

/**
 * The configuration of a patch or an apply for an object of a custom kind, as plain JSON that every client reads in the
 * same way. Custom kinds have no values whose spelling matters, such as quantities: the compared and owned values are
 * those that will be stored. Throws a 400 for numbers too large for a double.
 *
 * @param fault the beginning of the message
 */
export function plainIntent(intent: unknown, fault: string): unknown {
  try {
    return plainJson(intent);
  } catch (error) {
    if (error instanceof ValueFormatError) throw badRequestError(`${fault}: ${error.message}`, error);
    throw error;
  }
}
