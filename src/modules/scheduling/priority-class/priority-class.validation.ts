import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import type { PriorityClass } from '../../../objects/apis/scheduling/v1/priority-class.types.js';

/** Classes that only the system makes, with the values they must have. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

const systemPrefix = 'system-';
const highestUserPriority = 1_000_000_000;
const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

/** Validates a new PriorityClass. */
export function validatePriorityClass(object: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  const name = object.metadata.name ?? '';
  if (name.startsWith(systemPrefix)) {
    const problem = systemClassProblem(object, name);
    if (problem !== undefined) {
      const detail = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${problem}`;
      errors.push(forbidden(FieldPath.of('metadata', 'name'), detail));
    }
  } else if (object.value > highestUserPriority) {
    const detail = `maximum allowed value of a user defined priority is ${highestUserPriority}`;
    errors.push(forbidden(FieldPath.of('value'), detail));
  }
  const policy = object.preemptionPolicy;
  if (policy === '') errors.push(required(FieldPath.of('preemptionPolicy')));
  else if (policy !== undefined && !preemptionPolicies.includes(policy)) {
    errors.push(notSupported(FieldPath.of('preemptionPolicy'), policy, preemptionPolicies));
  }
  return errors;
}

/** Validates a changed PriorityClass: pods already have its value. */
export function validatePriorityClassUpdate(object: PriorityClass, old: PriorityClass): FieldError[] {
  const errors: FieldError[] = [];
  if (object.value !== old.value) errors.push(forbidden(FieldPath.of('value'), 'may not be changed in an update.'));
  if (object.preemptionPolicy !== old.preemptionPolicy) {
    errors.push(invalid(FieldPath.of('preemptionPolicy'), object.preemptionPolicy, 'field is immutable'));
  }
  return errors;
}

function systemClassProblem(object: PriorityClass, name: string): string | undefined {
  const value = Object.hasOwn(systemPriorities, name) ? systemPriorities[name] : undefined;
  if (value === undefined) return `${name} is not a known system priority class`;
  if (object.value !== value) return `value of ${name} PriorityClass must be ${value}`;
  return object.globalDefault === true ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
