import type { ApiObject } from '../../../base/machinery/api-object.js';
import { collectErrors, type FieldError, forbidden, rootPath } from '../../../base/machinery/field-error.js';
import { shownValue } from '../../../base/machinery/schema/shown-value.js';
import { invalidError } from '../../../base/machinery/status-error.js';
import { type StoredResource, storedGroupKind } from '../resource-definition.js';

/** V8's message when nesting, or the number of arguments of a call, exceeds its stack. */
const stackMessage = 'Maximum call stack size exceeded';

/** The most errors in a response: it stays readable, and much smaller than the object may be. */
const maxErrors = 1000;

/**
 * Throws a 422 when `check` finds broken rules. An object of the largest size can break hundreds of thousands of rules,
 * so the check ends at a thousand.
 */
export function refuseBrokenRules(definition: StoredResource, object: ApiObject, check: () => FieldError[]): void {
  let found: ReturnType<typeof collectErrors>;
  try {
    found = collectErrors(maxErrors, check, shownValue(definition.versions[0].type, object));
  } catch (error) {
    if (!(error instanceof RangeError) || error.message !== stackMessage) throw error;
    found = { errors: [forbidden(rootPath, 'the object breaks too many rules to list them')], hasMore: false };
  }
  const { errors, hasMore } = found;
  if (errors.length > 0) throw invalidError(storedGroupKind(definition), object.metadata.name ?? '', errors, hasMore);
}
