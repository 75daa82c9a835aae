import { type FieldError, FieldPath, forbidden, invalid, required } from '../../../base/machinery/field-error.js';
import { quantitySign } from '../../../base/machinery/values/quantity.js';
import type {
  HorizontalPodAutoscaler,
  HPAScalingRules,
} from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import { checkNonNegative, checkOneOf } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validateMetrics, validateTargetRef } from './metric.validation.js';

const specPath = FieldPath.of('spec');
const maxStabilizationSeconds = 3600;
const maxPeriodSeconds = 1800;

/** Validates an autoscaler, except for its metadata. */
export function validateHorizontalPodAutoscaler(
  { spec }: HorizontalPodAutoscaler,
  old?: HorizontalPodAutoscaler,
): FieldError[] {
  const errors: FieldError[] = [];
  const metrics = spec.metrics ?? [];
  const min = spec.minReplicas;
  // With no pods left, only object and external metrics can show that pods are needed again.
  const canWake = metrics.some(({ type }) => type === 'Object' || type === 'External');
  const maxPath = specPath.child('maxReplicas');
  if (min !== undefined && spec.maxReplicas < min) {
    errors.push(invalid(maxPath, spec.maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  validateTargetRef(spec.scaleTargetRef, specPath.child('scaleTargetRef'), errors);
  // Older releases accepted any value; a value once accepted stays valid.
  if (old === undefined || old.spec.scaleTargetRef.apiVersion !== spec.scaleTargetRef.apiVersion) {
    const { apiVersion = '', kind } = spec.scaleTargetRef;
    // Replication controllers are in the core group, which has no name.
    if (kind !== 'ReplicationController') checkTargetGroup(apiVersion, errors);
  }
  validateMetrics(metrics, specPath.child('metrics'), errors);
  if (min === 0 && !canWake) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.push(forbidden(specPath.child('metrics'), detail));
  }
  if (spec.behavior !== undefined) {
    const path = specPath.child('behavior');
    validateRules(spec.behavior.scaleUp, path.child('scaleUp'), errors);
    validateRules(spec.behavior.scaleDown, path.child('scaleDown'), errors);
  }
  checkNonNegative(min, specPath.child('minReplicas'), errors);
  if (spec.maxReplicas === 0) errors.push(required(maxPath));
  else if (spec.maxReplicas < 0) errors.push(invalid(maxPath, spec.maxReplicas, 'must be greater than or equal to 1'));
  return errors;
}

/** Without its group, the kind to scale can't be found. */
function checkTargetGroup(apiVersion: string, errors: FieldError[]): void {
  const path = specPath.child('scaleTargetRef').child('apiVersion');
  const parts = apiVersion.split('/');
  if (parts.length > 2) errors.push(invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  else if (parts.length < 2 || parts[0] === '')
    errors.push(invalid(path, apiVersion, 'apiVersion must specify API group'));
}

function validateRules(rules: HPAScalingRules | undefined, path: FieldPath, errors: FieldError[]): void {
  if (rules === undefined) return;
  const window = rules.stabilizationWindowSeconds;
  if (window !== undefined) {
    const at = path.child('stabilizationWindowSeconds');
    if (window < 0) errors.push(invalid(at, window, 'must be greater than or equal to zero'));
    if (window > maxStabilizationSeconds) {
      errors.push(invalid(at, window, `must be less than or equal to ${maxStabilizationSeconds}`));
    }
  }
  if (rules.selectPolicy !== undefined) {
    checkOneOf(rules.selectPolicy, ['Disabled', 'Max', 'Min'], path.child('selectPolicy'), errors);
  }
  const policies = rules.policies ?? [];
  const at = path.child('policies');
  if (policies.length === 0) errors.push(required(at, 'must specify at least one Policy'));
  policies.forEach(({ type, value, periodSeconds }, i) => {
    const policyPath = at.index(i);
    checkOneOf(type, ['Percent', 'Pods'], policyPath.child('type'), errors);
    if (value <= 0) errors.push(invalid(policyPath.child('value'), value, 'must be greater than zero'));
    const periodPath = policyPath.child('periodSeconds');
    if (periodSeconds <= 0) errors.push(invalid(periodPath, periodSeconds, 'must be greater than zero'));
    if (periodSeconds > maxPeriodSeconds) {
      errors.push(invalid(periodPath, periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`));
    }
  });
  if (rules.tolerance !== undefined && quantitySign(rules.tolerance) < 0) {
    errors.push(invalid(path.child('tolerance'), rules.tolerance, 'must be greater than or equal to 0'));
  }
}

/** Validates the status of an autoscaler. */
export function validateHorizontalPodAutoscalerStatus({ status }: HorizontalPodAutoscaler): FieldError[] {
  const errors: FieldError[] = [];
  const path = FieldPath.of('status');
  checkNonNegative(status.currentReplicas, path.child('currentReplicas'), errors);
  checkNonNegative(status.desiredReplicas, path.child('desiredReplicas'), errors);
  status.conditions?.forEach(({ observedGeneration }, i) => {
    checkNonNegative(observedGeneration, path.child('conditions').index(i).child('observedGeneration'), errors);
  });
  return errors;
}
