import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../../../base/machinery/names.js';
import type { Condition } from '../condition.types.js';

const statuses = ['False', 'True', 'Unknown'];
const maxReasonLength = 1024;
const maxMessageLength = 32 * 1024;
const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonRegExp = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** Validates a list of standard conditions. */
export function validateConditions(conditions: readonly Condition[] | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, condition] of (conditions ?? []).entries()) {
    const at = path.index(i);
    if (seen.has(condition.type)) errors.push(duplicate(at, condition.type));
    seen.add(condition.type);
    validateCondition(condition, at, errors);
  }
  return errors;
}

function validateCondition(condition: Condition, path: FieldPath, errors: FieldError[]): void {
  const { type, status, observedGeneration, lastTransitionTime, reason, message } = condition;
  if (type === '') errors.push(required(path.child('type'), 'is required'));
  else for (const m of isQualifiedName(type)) errors.push(invalid(path.child('type'), type, m));
  if (status === '') errors.push(required(path.child('status')));
  else if (!statuses.includes(status)) errors.push(notSupported(path.child('status'), status, statuses));
  if ((observedGeneration ?? 0) < 0) {
    const detail = 'must be greater than or equal to zero';
    errors.push(invalid(path.child('observedGeneration'), observedGeneration, detail));
  }
  if (lastTransitionTime === null) errors.push(required(path.child('lastTransitionTime')));
  if (reason.length > maxReasonLength) errors.push(tooLong(path.child('reason'), maxReasonLength));
  if (reason === '') errors.push(required(path.child('reason')));
  else if (!reasonRegExp.test(reason)) {
    const rule =
      "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
    const examples = "e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB'";
    errors.push(
      invalid(path.child('reason'), reason, `${rule} (${examples}, regex used for validation is '${reasonFormat}')`),
    );
  }
  if (message.length > maxMessageLength) errors.push(tooLong(path.child('message'), maxMessageLength));
}
