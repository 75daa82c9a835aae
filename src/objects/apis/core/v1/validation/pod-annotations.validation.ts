import { type FieldError, type FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import type { PodSpec } from '../pod-spec.types.js';
import { localProfilePrefix, profileAnnotations } from '../profile-annotations.js';
import { checkLocalDescendingPath, type PodValidationOptions } from './common.validation.js';

type Annotations = Readonly<Record<string, string>>;

const maxInt32 = 2147483647;

/**
 * Validates the annotations that mean something for a pod, or for the pods of a template: a pod that mirrors one of a
 * node's own files can't wait for a scheduler, what its deletion costs is a number, unless it wasn't one before, and
 * profiles exist.
 *
 * @param old the annotations before an update of a pod
 */
export function validatePodAnnotations(
  annotations: Annotations,
  spec: PodSpec,
  path: FieldPath,
  { names }: PodValidationOptions,
  old: Annotations = {},
): FieldError[] {
  const errors: FieldError[] = [];
  const mirrorKey = `${names.labelPrefix}/config.mirror`;
  const mirror = annotations[mirrorKey];
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalid(path.key(mirrorKey), mirror, 'must set spec.nodeName if mirror pod annotation is set'));
  }
  const costKey = `controller.${names.labelPrefix}/pod-deletion-cost`;
  const cost = annotations[costKey];
  if (!isDeletionCost(cost) && isDeletionCost(old[costKey])) {
    errors.push(invalid(path.key(costKey), cost, 'must be a 32bit integer'));
  }
  const { appArmorPrefix, seccompPod, seccompPrefix } = profileAnnotations(names);
  const seccomp = annotations[seccompPod];
  if (seccomp !== undefined) checkSeccomp(seccomp, path.child(seccompPod), errors);
  for (const [key, value] of Object.entries(annotations)) {
    if (key.startsWith(seccompPrefix)) checkSeccomp(value, path.child(key), errors);
  }
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  for (const [key, value] of Object.entries(annotations)) {
    if (!key.startsWith(appArmorPrefix)) continue;
    const name = key.slice(appArmorPrefix.length);
    if (!containers.some((container) => container.name === name)) {
      errors.push(invalid(path.key(key), name, 'container not found'));
    }
    if (!isAppArmorProfile(value)) {
      errors.push(invalid(path.key(key), value, `invalid AppArmor profile name: ${JSON.stringify(value)}`));
    }
  }
  return errors;
}

function isDeletionCost(text: string | undefined): boolean {
  if (text === undefined) return true;
  return /^(0|-\d+|[1-9]\d*)$/.test(text) && Number(text) <= maxInt32 && Number(text) >= -maxInt32 - 1;
}

function checkSeccomp(profile: string, path: FieldPath, errors: FieldError[]): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return;
  if (profile.startsWith(localProfilePrefix)) {
    checkLocalDescendingPath(profile.slice(localProfilePrefix.length), path, errors);
  } else errors.push(invalid(path, profile, 'must be a valid seccomp profile'));
}

function isAppArmorProfile(text: string): boolean {
  return ['', 'runtime/default', 'unconfined'].includes(text) || text.startsWith(localProfilePrefix);
}
