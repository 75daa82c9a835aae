import { type FieldError, FieldPath, forbidden, invalid } from '../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { AppArmorProfile } from '../../../objects/apis/core/v1/security-context.types.js';

/** Prefix of the annotations that named AppArmor profiles before a field existed; the name of a container follows. */
export function appArmorPrefix({ labelPrefix }: Pick<VendorNames, 'labelPrefix'>): string {
  return `container.apparmor.security.beta.${labelPrefix}/`;
}

/**
 * Sets the field of the containers whose annotation names a profile, and returns warnings. Changes `pod`, which is a
 * new pod.
 */
export function applyAppArmorAnnotations({ metadata, spec }: Pod, names: VendorNames): string[] {
  const annotations = metadata.annotations ?? {};
  if (spec.os?.name === 'windows') return [];
  const warnings: string[] = [];
  const ofPod = spec.securityContext?.appArmorProfile;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const key = `${appArmorPrefix(names)}${container.name}`;
    const profile = profileOf(annotations[key]);
    if (Object.hasOwn(annotations, key) && container.securityContext?.appArmorProfile === undefined) {
      warnings.push(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
    }
    if (profile === undefined || container.securityContext?.appArmorProfile !== undefined) continue;
    // A container need not repeat the profile of the pod.
    if (ofPod !== undefined && ofPod.type === profile.type && ofPod.localhostProfile === profile.localhostProfile)
      continue;
    container.securityContext = { ...container.securityContext, appArmorProfile: profile };
  }
  return warnings;
}

/**
 * Validates the annotations of a new pod: they must name known containers and profiles, and not contradict the field.
 */
export function validateAppArmorAnnotations(pod: Pod, names: VendorNames): FieldError[] {
  const prefix = appArmorPrefix(names);
  const errors: FieldError[] = [];
  const { initContainers = [], containers } = pod.spec;
  const known = new Set([...initContainers, ...(containers ?? [])].map(({ name }) => name));
  for (const [key, value] of Object.entries(pod.metadata.annotations ?? {})) {
    if (!key.startsWith(prefix)) continue;
    const path = FieldPath.of('metadata', 'annotations').key(key);
    const container = key.slice(prefix.length);
    if (!known.has(container)) errors.push(invalid(path, container, 'container not found'));
    if (value !== '' && profileOf(value) === undefined) {
      errors.push(invalid(path, value, `invalid AppArmor profile name: ${JSON.stringify(value)}`));
    }
  }
  const check = (list: readonly Container[], field: string) => {
    list.forEach((container, i) => {
      const given = container.securityContext?.appArmorProfile;
      const wanted = profileOf(pod.metadata.annotations?.[`${prefix}${container.name}`]);
      if (given === undefined || wanted === undefined) return;
      const at = FieldPath.of('spec', field).index(i).child('securityContext').child('appArmorProfile');
      if (given.type !== wanted.type) {
        errors.push(forbidden(at.child('type'), 'apparmor type in annotation and field must match'));
      } else if (given.localhostProfile !== wanted.localhostProfile) {
        errors.push(forbidden(at.child('localhostProfile'), 'apparmor profile in annotation and field must match'));
      }
    });
  };
  check(initContainers, 'initContainers');
  check(containers ?? [], 'containers');
  return errors;
}

function profileOf(text: string | undefined): AppArmorProfile | undefined {
  if (text === undefined) return undefined;
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  if (text === 'unconfined') return { type: 'Unconfined' };
  const local = text.startsWith('localhost/') ? text.slice('localhost/'.length) : '';
  return local === '' ? undefined : { type: 'Localhost', localhostProfile: local };
}
