import { collectErrors, type FieldError, forbidden, rootPath } from '../../machinery/field-error.js';
import { invalidError } from '../../machinery/status-error.js';
import { type StoredResource, storedGroupKind } from '../resource-definition.js';

/** What V8 says when nesting, or the number of arguments of a call, is beyond its stack. */
const stackMessage = 'Maximum call stack size exceeded';

/** An answer must stay readable, and much smaller than the object that it is about may be. */
const maxErrors = 1000;

/**
 * Throws a 422 when `check` finds broken rules. An object of the largest size can break hundreds of thousands of them: the
 * check ends at a thousand.
 */
export function refuseBrokenRules(definition: StoredResource, name: string, check: () => FieldError[]): void {
  let found: ReturnType<typeof collectErrors>;
  try {
    found = collectErrors(maxErrors, check);
  } catch (error) {
    if (!(error instanceof RangeError) || error.message !== stackMessage) throw error;
    found = { errors: [forbidden(rootPath, 'the object breaks too many rules to list them')], hasMore: false };
  }
  const { errors, hasMore } = found;
  if (errors.length > 0) throw invalidError(storedGroupKind(definition), name, errors, hasMore);
}
