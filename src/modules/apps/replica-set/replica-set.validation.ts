import { type FieldError, FieldPath } from '../../../base/machinery/field-error.js';
import type { ReplicaSet } from '../../../objects/apis/apps/v1/replica-set.types.js';
import {
  checkImmutable,
  checkNonNegative,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import { checkReplicaCounts } from '../../../objects/apis/core/v1/validation/replicas.validation.js';
import { validateReplicatedTemplate } from '../../../objects/apis/core/v1/validation/replicated-template.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { matcherOf } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { checkSelectorUsable, validateOwnSelector } from '../selector.validation.js';

const specPath = FieldPath.of('spec');

/** Validates a replica set, except for its metadata. */
export function validateReplicaSet({ spec }: ReplicaSet, options: PodValidationOptions): FieldError[] {
  const errors: FieldError[] = [];
  checkNonNegative(spec.replicas, specPath.child('replicas'), errors);
  checkNonNegative(spec.minReadySeconds, specPath.child('minReadySeconds'), errors);
  // Clients know this message with the word `deployment`, although it is about a replica set.
  validateOwnSelector(spec.selector, 'deployment', specPath.child('selector'), errors);
  if (checkSelectorUsable(spec.selector, 'invalid label selector', specPath.child('selector'), errors)) {
    const rules = { matches: matcherOf(spec.selector), replicas: spec.replicas ?? 0, kind: 'ReplicaSet' };
    errors.push(...validateReplicatedTemplate(spec.template, rules, specPath.child('template'), options));
  }
  return errors;
}

/** Validates a changed replica set: the selector must not change. */
export function validateReplicaSetUpdate(
  object: ReplicaSet,
  old: ReplicaSet,
  options: PodValidationOptions,
): FieldError[] {
  const errors = validateReplicaSet(object, updateOptions(options, old.spec.template?.spec));
  checkImmutable(object.spec.selector, old.spec.selector, specPath.child('selector'), errors);
  return errors;
}

/** Validates the status of a replica set. */
export function validateReplicaSetStatus({ status }: ReplicaSet): FieldError[] {
  const errors: FieldError[] = [];
  const path = FieldPath.of('status');
  checkReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], path, errors);
  checkNonNegative(status.terminatingReplicas, path.child('terminatingReplicas'), errors);
  return errors;
}
