import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import type { DaemonSet, DaemonSetUpdateStrategy } from '../../../objects/apis/apps/v1/daemon-set.types.js';
import {
  checkImmutable,
  checkNonNegative,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import { checkCollisionCount } from '../../../objects/apis/core/v1/validation/replicas.validation.js';
import { validateReplicatedTemplate } from '../../../objects/apis/core/v1/validation/replicated-template.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { matcherOf } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { checkAtMostAll, checkIntOrPercent, isZero } from '../rolling-update.validation.js';
import { validateOwnSelector } from '../selector.validation.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');

/** Validates a daemon set, except for its metadata. */
export function validateDaemonSet({ spec }: DaemonSet, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  // A missing selector selects nothing, which is an error of the template.
  if (spec.selector !== null) validateOwnSelector(spec.selector, 'daemonset', specPath.child('selector'), errors);
  // Every node runs one pod, so disks are shared.
  const rules = { matches: matcherOf(spec.selector), replicas: 2, kind: 'DaemonSet' };
  errors.push(...validateReplicatedTemplate(spec.template, rules, specPath.child('template'), options));
  checkNonNegative(spec.minReadySeconds, specPath.child('minReadySeconds'), errors);
  validateUpdateStrategy(spec.updateStrategy, specPath.child('updateStrategy'), errors);
  checkNonNegative(spec.revisionHistoryLimit, specPath.child('revisionHistoryLimit'), errors);
  return errors;
}

function validateUpdateStrategy(strategy: DaemonSetUpdateStrategy, path: FieldPath, errors: FieldError[]): void {
  if (strategy.type === 'OnDelete') return;
  if (strategy.type !== 'RollingUpdate') {
    errors.push(notSupported(path, strategy, ['RollingUpdate', 'OnDelete']));
    return;
  }
  const rollingPath = path.child('rollingUpdate');
  if (strategy.rollingUpdate === undefined) {
    errors.push(required(rollingPath));
    return;
  }
  const { maxUnavailable, maxSurge } = strategy.rollingUpdate;
  const unavailablePath = rollingPath.child('maxUnavailable');
  const surgePath = rollingPath.child('maxSurge');
  checkIntOrPercent(maxUnavailable, unavailablePath, errors);
  checkIntOrPercent(maxSurge, surgePath, errors);
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    errors.push(required(unavailablePath, 'cannot be 0 when maxSurge is 0'));
  }
  checkAtMostAll(maxUnavailable, unavailablePath, errors);
  checkAtMostAll(maxSurge, surgePath, errors);
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    errors.push(invalid(surgePath, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  }
}

/** Validates a changed daemon set: the selector must not change. */
export function validateDaemonSetUpdate(
  object: DaemonSet,
  old: DaemonSet,
  options: PodValidationOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  checkImmutable(object.spec.selector, old.spec.selector, specPath.child('selector'), errors);
  return [...errors, ...validateDaemonSet(object, updateOptions(options, old.spec.template.spec))];
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

/** Validates a daemon set's changed status. */
export function validateDaemonSetStatus({ status }: DaemonSet, old: DaemonSet): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of counts) checkNonNegative(status[name], statusPath.child(name), errors);
  checkNonNegative(status.collisionCount, statusPath.child('collisionCount'), errors);
  checkCollisionCount(status.collisionCount, old.status.collisionCount, statusPath, errors);
  return errors;
}
