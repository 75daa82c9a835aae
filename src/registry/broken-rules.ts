import { type FieldError, forbidden, rootPath } from '../machinery/field-error.js';
import { invalidError } from '../machinery/status-error.js';
import { type ResourceDefinition, storedGroupKind } from './resource-definition.js';

/** What V8 says when nesting, or the number of arguments of a call, is beyond its stack. */
const stackMessage = 'Maximum call stack size exceeded';

/**
 * Throws a 422 when `check` finds broken rules. An object of the largest size can break so many of them, hundreds of
 * thousands, that they can't be collected: it is refused for that.
 */
export function refuseBrokenRules(definition: ResourceDefinition, name: string, check: () => FieldError[]): void {
  let errors: FieldError[];
  try {
    errors = check();
  } catch (error) {
    if (!(error instanceof RangeError) || error.message !== stackMessage) throw error;
    errors = [forbidden(rootPath, 'the object breaks too many rules to list them')];
  }
  if (errors.length > 0) throw invalidError(storedGroupKind(definition), name, errors);
}
