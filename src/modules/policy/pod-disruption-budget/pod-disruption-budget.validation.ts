import { type FieldError, FieldPath, invalid, notSupported } from '../../../base/machinery/field-error.js';
import { parsePercentage } from '../../../base/machinery/values/int-or-string.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import type { PodDisruptionBudget } from '../../../objects/apis/policy/v1/pod-disruption-budget.types.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');
const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget'];
const percentFormat =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Validates the spec of a PodDisruptionBudget, new or changed. */
export function validatePodDisruptionBudget({ spec }: PodDisruptionBudget): FieldError[] {
  const errors: FieldError[] = [];
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalid(specPath, spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  if (minAvailable !== undefined) validateAmount(minAvailable, specPath.child('minAvailable'), errors);
  if (maxUnavailable !== undefined) validateAmount(maxUnavailable, specPath.child('maxUnavailable'), errors);
  errors.push(...validateLabelSelector(selector, specPath.child('selector')));
  if (policy !== undefined && !evictionPolicies.includes(policy)) {
    errors.push(notSupported(specPath.child('unhealthyPodEvictionPolicy'), policy, evictionPolicies));
  }
  return errors;
}

/** Validates a written status. */
export function validatePodDisruptionBudgetStatus({ status }: PodDisruptionBudget): FieldError[] {
  const errors = validateConditions(status.conditions, statusPath.child('conditions'));
  for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const) {
    const value = status[field];
    if (value < 0) errors.push(invalid(statusPath.child(field), value, 'must be greater than or equal to 0'));
  }
  return errors;
}

function validateAmount(amount: number | string, path: FieldPath, errors: FieldError[]): void {
  if (typeof amount === 'number') {
    if (amount < 0) errors.push(invalid(path, amount, 'must be greater than or equal to 0'));
    return;
  }
  const percent = parsePercentage(amount);
  if (percent === undefined) errors.push(invalid(path, amount, percentFormat));
  else if (percent > 100) errors.push(invalid(path, amount, 'must not be greater than 100%'));
}
