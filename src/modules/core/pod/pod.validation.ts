import { type FieldError, FieldPath, forbidden, invalid, rootPath } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { structDiff } from '../../../base/machinery/schema/struct-diff.js';
import type { Toleration } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { type PodSpec, podSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { PodValidationOptions } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validateInitRestarts } from '../../../objects/apis/core/v1/validation/container-restart.validation.js';
import { validateMatchingProfiles } from '../../../objects/apis/core/v1/validation/matching-profiles.validation.js';
import { validatePodAnnotations } from '../../../objects/apis/core/v1/validation/pod-annotations.validation.js';
import {
  validatePlainAddresses,
  validatePodSpec,
} from '../../../objects/apis/core/v1/validation/pod-spec.validation.js';
import { validateMergedKeys } from '../../../objects/apis/core/v1/validation/scheduling.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { keepPlacement } from './gated-placement.js';

const annotationsPath = FieldPath.of('metadata', 'annotations');
const specPath = FieldPath.of('spec');
const maxInt32 = 2147483647;

/** Validates a new pod, except for its metadata. */
export function validatePod(pod: Pod, options: PodValidationOptions): FieldError[] {
  const annotations = pod.metadata.annotations ?? {};
  const errors = validatePodAnnotations(annotations, pod.spec, annotationsPath, options);
  errors.push(...validateMirrorClaims(pod, options));
  errors.push(...validatePodSpec(pod.spec, specPath, options));
  for (const check of [validateInitRestarts, validateMergedKeys, validatePlainAddresses]) {
    errors.push(...check(pod.spec, specPath));
  }
  if (pod.spec.nodeName && (pod.spec.schedulingGates ?? []).length > 0) {
    const detail = 'cannot be set until all schedulingGates have been cleared';
    errors.push(forbidden(specPath.child('nodeName'), detail));
  }
  if ((pod.spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'));
  }
  if (!pod.spec.serviceAccountName) checkNoTokens(pod.spec, errors);
  errors.push(...validateMatchingProfiles(annotations, pod.spec, specPath, options.names));
  return errors;
}

/** Checks that a pod without a service account has no token volumes. */
function checkNoTokens(spec: PodSpec, errors: FieldError[]): void {
  spec.volumes?.forEach((volume, i) => {
    volume.projected?.sources?.forEach((source, j) => {
      if (source.serviceAccountToken === undefined) return;
      const path = specPath.child('volumes').index(i).child('projected').child('sources').index(j);
      const detail = 'must not be specified when serviceAccountName is not set';
      errors.push(forbidden(path.child('serviceAccountToken'), detail));
    });
  });
}

/** A static pod is known to its node alone: nothing allocates devices for it. */
function validateMirrorClaims(pod: Pod, options: PodValidationOptions): FieldError[] {
  if (!isMirrorPod(pod, options)) return [];
  return (pod.spec.resourceClaims ?? []).map(() => forbidden(rootPath, 'static pods do not support resource claims'));
}

/**
 * Validates changed annotations, on every path: whether a pod is a mirror can't change, nor can its AppArmor profiles.
 * Otherwise a user who may only report a status could undo decisions that admission based on them.
 */
export function validateAnnotationUpdate(pod: Pod, old: Pod, { names }: PodValidationOptions): FieldError[] {
  const [now, before] = [pod.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  const mirror = `${names.labelPrefix}/config.mirror`;
  const appArmor = `container.apparmor.security.beta.${names.labelPrefix}/`;
  const nounOf = (key: string) =>
    key === mirror ? 'mirror pod annotation' : key.startsWith(appArmor) ? 'AppArmor annotations' : undefined;
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(before)) {
    const noun = nounOf(key);
    if (noun === undefined || (Object.hasOwn(now, key) && now[key] === value)) continue;
    errors.push(forbidden(annotationsPath.key(key), `may not remove or update ${noun}`));
  }
  for (const key of Object.keys(now)) {
    const noun = nounOf(key);
    if (noun === undefined || Object.hasOwn(before, key)) continue;
    errors.push(forbidden(annotationsPath.key(key), `may not add ${noun}`));
  }
  return errors;
}

/** Whether the pod is a copy of a static pod of a node. */
export function isMirrorPod({ metadata }: Pod, { names }: PodValidationOptions): boolean {
  return metadata.annotations?.[`${names.labelPrefix}/config.mirror`] !== undefined;
}

const updatableFields =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Validates a changed pod: in its spec only images, the deadline and new tolerations may change. */
export function validatePodUpdate(pod: Pod, old: Pod, options: PodValidationOptions): FieldError[] {
  const [annotations, before] = [pod.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  const errors = validatePodAnnotations(annotations, pod.spec, annotationsPath, options, before);
  errors.push(...validatePodSpec(pod.spec, specPath, updateOptions(options, old.spec)));
  errors.push(...validateAnnotationUpdate(pod, old, options));
  for (const field of ['containers', 'initContainers'] as const) {
    if ((pod.spec[field] ?? []).length === (old.spec[field] ?? []).length) continue;
    errors.push(forbidden(specPath.child(field), 'pod updates may not add or remove containers'));
    return errors;
  }
  if (!validateDeadline(pod.spec, old.spec, errors)) return errors;
  validateAddedTolerations(pod.spec.tolerations ?? [], old.spec.tolerations ?? [], errors);
  checkGates(pod.spec, old.spec, errors);
  const kept = withUpdatableFieldsOf(pod.spec, old.spec);
  if ((old.spec.schedulingGates ?? []).length > 0) keepPlacement(kept, old.spec, errors);
  if (!deepEqual(kept, old.spec)) {
    errors.push(forbidden(specPath, `${updatableFields}\n${structDiff(podSpec, old.spec, kept)}`));
  }
  return errors;
}

/** Checks the deadline. Returns false when further checks make no sense. */
function validateDeadline(spec: PodSpec, old: PodSpec, errors: FieldError[]): boolean {
  const path = specPath.child('activeDeadlineSeconds');
  const value = spec.activeDeadlineSeconds;
  const before = old.activeDeadlineSeconds;
  if (value === undefined) {
    if (before !== undefined) {
      errors.push(invalid(path, undefined, 'must not update from a positive integer to nil value'));
    }
    return true;
  }
  if (value < 0 || value > maxInt32) {
    errors.push(invalid(path, value, `must be between 0 and ${maxInt32}, inclusive`));
    return false;
  }
  if (before !== undefined && before < value) {
    errors.push(invalid(path, value, 'must be less than or equal to previous value'));
    return false;
  }
  return true;
}

function validateAddedTolerations(
  tolerations: readonly Toleration[],
  old: readonly Toleration[],
  errors: FieldError[],
): void {
  const textOf = ({ key = '', operator = '', value = '', effect = '' }: Toleration) =>
    JSON.stringify([key, operator, value, effect]);
  const kept = new Set(tolerations.map(textOf));
  for (const before of old) {
    if (kept.has(textOf(before))) continue;
    const detail = 'existing toleration can not be modified except its tolerationSeconds';
    errors.push(forbidden(specPath.child('tolerations'), detail));
    return;
  }
}

/** Checks the scheduling gates: they may be removed but not added. */
function checkGates(spec: PodSpec, old: PodSpec, errors: FieldError[]): void {
  const known = new Set(old.schedulingGates?.map(({ name }) => name));
  spec.schedulingGates?.forEach(({ name }, i) => {
    if (known.has(name)) return;
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    errors.push(forbidden(specPath.child('schedulingGates').index(i).child('name'), detail));
  });
}

/** The new spec with the old value of every changeable field, for comparison with the old spec. */
function withUpdatableFieldsOf(spec: PodSpec, old: PodSpec): PodSpec {
  const result: PodSpec = { ...spec };
  copyField(result, old, 'activeDeadlineSeconds');
  copyField(result, old, 'tolerations');
  const grace = old.terminationGracePeriodSeconds ?? 0;
  // A negative period means one second.
  if (grace < 0 && spec.terminationGracePeriodSeconds === 1) result.terminationGracePeriodSeconds = grace;
  if (spec.containers !== null) result.containers = withImagesOf(spec.containers, old.containers ?? []);
  if (spec.initContainers !== undefined) {
    result.initContainers = withImagesOf(spec.initContainers, old.initContainers ?? []);
  }
  copyField(result, old, 'schedulingGates');
  return result;
}

function copyField<K extends keyof PodSpec>(spec: PodSpec, old: PodSpec, field: K): void {
  if (old[field] === undefined) delete spec[field];
  else spec[field] = old[field];
}

function withImagesOf(containers: readonly Container[], old: readonly Container[]): Container[] {
  return containers.map((container, i) => {
    const image = old[i]?.image;
    if (image === undefined) {
      const { image: _image, ...rest } = container;
      return rest;
    }
    return { ...container, image };
  });
}
