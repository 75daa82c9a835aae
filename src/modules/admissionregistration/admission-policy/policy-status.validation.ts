import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import type { ValidatingAdmissionPolicyStatus } from '../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import { parseJsonPath } from '../../../objects/custom-resources/definition/json-path.js';
import { JsonPathError } from '../../../objects/custom-resources/definition/json-path-error.js';

const statusPath = FieldPath.of('status');
const warningsPath = statusPath.child('typeChecking').child('expressionWarnings');

/** Validates a written status of a policy: its conditions, and the warnings about its expressions. */
export function validatePolicyStatus({ conditions, typeChecking }: ValidatingAdmissionPolicyStatus): FieldError[] {
  const errors: FieldError[] = [];
  typeChecking?.expressionWarnings?.forEach(({ fieldRef, warning }, i) => {
    const path = warningsPath.index(i);
    if (fieldRef.trim() === '') errors.push(required(path.child('fieldRef')));
    else {
      const fault = pathFault(fieldRef);
      if (fault !== undefined) errors.push(invalid(path.child('fieldRef'), fieldRef, `invalid JSONPath: ${fault}`));
    }
    if (warning.trim() === '') errors.push(required(path.child('warning')));
  });
  return [...errors, ...validateConditions(conditions, statusPath.child('conditions'))];
}

/** Why a path is none; unlike the paths of columns, it may begin with names that no dot precedes. */
function pathFault(text: string): string | undefined {
  try {
    parseJsonPath(text.replace(/^[\p{L}\p{N}_ ]+/u, ''));
  } catch (error) {
    if (error instanceof JsonPathError) return error.message;
    throw error;
  }
  return undefined;
}
