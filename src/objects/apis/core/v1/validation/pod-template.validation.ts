import { type FieldError, type FieldPath, forbidden } from '../../../../../base/machinery/field-error.js';
import { validateAnnotations, validateLabels } from '../../../../../base/machinery/label-rules.js';
import type { PodTemplateSpec } from '../pod-spec.types.js';
import type { PodValidationOptions } from './common.validation.js';
import { validateMatchingProfiles } from './matching-profiles.validation.js';
import { validatePodAnnotations } from './pod-annotations.validation.js';
import { validatePodSpec } from './pod-spec.validation.js';

/** Validates a pod template, labels and annotations included. */
export function validatePodTemplateSpec(
  template: PodTemplateSpec,
  path: FieldPath,
  options: PodValidationOptions,
): FieldError[] {
  // Errors of labels and annotations have paths without `metadata`.
  const errors = validateLabels(template.metadata.labels, path.child('labels'));
  errors.push(...validateAnnotations(template.metadata.annotations, path.child('annotations')));
  const annotations = template.metadata.annotations ?? {};
  errors.push(...validatePodAnnotations(annotations, template.spec, path.child('annotations'), options));
  errors.push(...validatePodSpec(template.spec, path.child('spec'), options));
  errors.push(...validateMatchingProfiles(annotations, template.spec, path.child('spec'), options.names));
  if ((template.spec.ephemeralContainers ?? []).length > 0) {
    const detail = 'ephemeral containers not allowed in pod template';
    errors.push(forbidden(path.child('spec').child('ephemeralContainers'), detail));
  }
  return errors;
}
