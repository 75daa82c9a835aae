import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import type { Deployment, DeploymentStrategy } from '../../../objects/apis/apps/v1/deployment.types.js';
import {
  checkImmutable,
  checkNonNegative,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import {
  checkCollisionCount,
  checkReplicaCounts,
} from '../../../objects/apis/core/v1/validation/replicas.validation.js';
import { validateReplicatedTemplate } from '../../../objects/apis/core/v1/validation/replicated-template.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { matcherOf } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { checkAtMostAll, checkIntOrPercent, isZero } from '../rolling-update.validation.js';
import { checkSelectorUsable, validateOwnSelector } from '../selector.validation.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');

/** Validates a deployment, except for its metadata. */
export function validateDeployment({ spec }: Deployment, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  checkNonNegative(spec.replicas, specPath.child('replicas'), errors);
  validateOwnSelector(spec.selector, 'deployment', specPath.child('selector'), errors);
  if (checkSelectorUsable(spec.selector, 'invalid label selector', specPath.child('selector'), errors)) {
    const rules = { matches: matcherOf(spec.selector), replicas: spec.replicas ?? 0, kind: 'ReplicaSet' };
    errors.push(...validateReplicatedTemplate(spec.template, rules, specPath.child('template'), options));
  }
  validateStrategy(spec.strategy, specPath.child('strategy'), errors);
  checkNonNegative(spec.minReadySeconds, specPath.child('minReadySeconds'), errors);
  checkNonNegative(spec.revisionHistoryLimit, specPath.child('revisionHistoryLimit'), errors);
  const deadline = spec.progressDeadlineSeconds;
  if (deadline !== undefined) {
    const path = specPath.child('progressDeadlineSeconds');
    checkNonNegative(deadline, path, errors);
    if (deadline <= (spec.minReadySeconds ?? 0)) {
      errors.push(invalid(path, deadline, 'must be greater than minReadySeconds'));
    }
  }
  return errors;
}

function validateStrategy(strategy: DeploymentStrategy, path: FieldPath, errors: FieldError[]): void {
  const rollingPath = path.child('rollingUpdate');
  const { type, rollingUpdate } = strategy;
  if (type === 'Recreate') {
    if (rollingUpdate !== undefined) {
      errors.push(forbidden(rollingPath, "may not be specified when strategy `type` is 'Recreate'"));
    }
    return;
  }
  if (type !== 'RollingUpdate') {
    errors.push(notSupported(path, strategy, ['Recreate', 'RollingUpdate']));
    return;
  }
  if (rollingUpdate === undefined) {
    errors.push(required(rollingPath));
    return;
  }
  const { maxUnavailable, maxSurge } = rollingUpdate;
  const unavailablePath = rollingPath.child('maxUnavailable');
  checkIntOrPercent(maxUnavailable, unavailablePath, errors);
  checkIntOrPercent(maxSurge, rollingPath.child('maxSurge'), errors);
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(invalid(unavailablePath, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  checkAtMostAll(maxUnavailable, unavailablePath, errors);
}

/** Validates a changed deployment: the selector must not change. */
export function validateDeploymentUpdate(
  object: Deployment,
  old: Deployment,
  options: PodValidationOptions,
): FieldError[] {
  const errors = validateDeployment(object, updateOptions(options, old.spec.template.spec));
  checkImmutable(object.spec.selector, old.spec.selector, specPath.child('selector'), errors);
  return errors;
}

/** Validates a deployment's changed status. */
export function validateDeploymentStatus({ status }: Deployment, old: Deployment): FieldError[] {
  const errors: FieldError[] = [];
  checkNonNegative(status.observedGeneration, statusPath.child('observedGeneration'), errors);
  const parts = ['updatedReplicas', 'readyReplicas', 'availableReplicas', 'unavailableReplicas'] as const;
  const { observedGeneration: _checked, ...counts } = status;
  checkReplicaCounts(counts, parts, statusPath, errors);
  checkNonNegative(status.terminatingReplicas, statusPath.child('terminatingReplicas'), errors);
  checkCollisionCount(status.collisionCount, old.status.collisionCount, statusPath, errors);
  return errors;
}
