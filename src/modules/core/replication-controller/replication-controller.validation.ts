import { type FieldError, FieldPath, required } from '../../../base/machinery/field-error.js';
import type { ReplicationController } from '../../../objects/apis/core/v1/replication-controller.types.js';
import {
  checkNonNegative,
  type PodValidationOptions,
} from '../../../objects/apis/core/v1/validation/common.validation.js';
import { checkReplicaCounts } from '../../../objects/apis/core/v1/validation/replicas.validation.js';
import { validateReplicatedTemplate } from '../../../objects/apis/core/v1/validation/replicated-template.validation.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');

/** Validates a replication controller, except for its metadata. */
export function validateReplicationController(
  { spec }: ReplicationController,
  options: PodValidationOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  checkNonNegative(spec.minReadySeconds, specPath.child('minReadySeconds'), errors);
  const selector = spec.selector ?? {};
  if (Object.keys(selector).length === 0) errors.push(required(specPath.child('selector')));
  checkNonNegative(spec.replicas, specPath.child('replicas'), errors);
  const templatePath = specPath.child('template');
  if (spec.template === undefined) errors.push(required(templatePath));
  else {
    const rules = { matches: matcherOf(selector), replicas: spec.replicas ?? 0, kind: 'ReplicationController' };
    errors.push(...validateReplicatedTemplate(spec.template, rules, templatePath, options));
  }
  return errors;
}

function matcherOf(selector: Readonly<Record<string, string>>): (labels: Readonly<Record<string, string>>) => boolean {
  return (labels) => Object.keys(selector).every((key) => labels[key] === selector[key]);
}

/** Validates the status of a replication controller. */
export function validateReplicationStatus({ status }: ReplicationController): FieldError[] {
  const errors: FieldError[] = [];
  checkReplicaCounts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], statusPath, errors);
  return errors;
}
