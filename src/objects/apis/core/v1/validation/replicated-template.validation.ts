import { type FieldError, type FieldPath, forbidden, invalid } from '../../../../../base/machinery/field-error.js';
import type { PodTemplateSpec } from '../pod-spec.types.js';
import type { PodValidationOptions } from './common.validation.js';
import { checkTemplateRestartPolicy } from './pod-spec.validation.js';
import { validatePodTemplateSpec } from './pod-template.validation.js';

/** The requirements of an owner for its template. */
export interface ReplicatedTemplateRules {
  /** Whether the owner's selector selects pods with these labels; undefined if there is no selector to check. */
  readonly matches: ((labels: Readonly<Record<string, string>>) => boolean) | undefined;
  /** How many pods are wanted; with more than one, disks can't be shared for writing. */
  readonly replicas: number;
  /** Kind of the owner, for messages. */
  readonly kind: string;
}

/** Validates the template of a kind that keeps a number of pods running. */
export function validateReplicatedTemplate(
  template: PodTemplateSpec,
  rules: ReplicatedTemplateRules,
  path: FieldPath,
  options: PodValidationOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  const { labels } = template.metadata;
  if (rules.matches?.(labels ?? {}) === false) {
    errors.push(invalid(path.child('metadata').child('labels'), labels, '`selector` does not match template `labels`'));
  }
  errors.push(...validatePodTemplateSpec(template, path, options));
  const specPath = path.child('spec');
  if (rules.replicas > 1) checkSharedDisks(template, specPath.child('volumes'), errors);
  checkTemplateRestartPolicy(template.spec, ['Always'], specPath, errors);
  if (template.spec.activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${rules.kind} is not Supported`;
    errors.push(forbidden(specPath.child('activeDeadlineSeconds'), detail));
  }
  return errors;
}

/** Checks that disks shared by several pods are read-only: a disk attached to several machines can't be written. */
function checkSharedDisks(template: PodTemplateSpec, path: FieldPath, errors: FieldError[]): void {
  template.spec.volumes?.forEach((volume, i) => {
    if (volume.gcePersistentDisk === undefined || volume.gcePersistentDisk.readOnly === true) return;
    const detail =
      'must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only';
    errors.push(invalid(path.index(i).child('gcePersistentDisk').child('readOnly'), false, detail));
  });
}
