import { type FieldError, type FieldPath, forbidden } from '../../../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../../../base/machinery/vendor.js';
import type { Container } from '../container.types.js';
import type { PodSpec } from '../pod-spec.types.js';
import { localProfilePrefix, profileAnnotations } from '../profile-annotations.js';
import type { AppArmorProfile, SeccompProfile } from '../security-context.types.js';

type Profile = AppArmorProfile | SeccompProfile;

/** What an annotation may say for each type of a field. */
type Words = Readonly<Record<string, readonly string[]>>;
const seccompWords: Words = { Unconfined: ['unconfined'], RuntimeDefault: ['runtime/default', 'docker/default'] };
const appArmorWords: Words = { Unconfined: ['unconfined'], RuntimeDefault: ['runtime/default'] };

/**
 * Checks that the fields with the profiles of a new pod or a template say the same as the annotations of older releases,
 * where both are there: seccomp first, then AppArmor, whose annotations also count beside the field of the pod.
 *
 * @param path of the spec
 */
export function validateMatchingProfiles(
  annotations: Readonly<Record<string, string>>,
  spec: PodSpec,
  path: FieldPath,
  names: VendorNames,
): FieldError[] {
  const errors: FieldError[] = [];
  const { appArmorPrefix, seccompPod, seccompPrefix } = profileAnnotations(names);
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  const check = (text: string | undefined, field: Profile | undefined, words: Words, noun: string, at: FieldPath) => {
    if (text === undefined || field === undefined) return;
    const error = mismatch(text, field, words, noun, at);
    if (error !== undefined) errors.push(error);
  };
  check(annotations[seccompPod], seccompProfile, seccompWords, 'seccomp', contextOf(path).child('seccompProfile'));
  eachContainer(spec, path, ({ name, securityContext }, at) => {
    const text = annotations[`${seccompPrefix}${name}`];
    check(text, securityContext?.seccompProfile, seccompWords, 'seccomp', contextOf(at).child('seccompProfile'));
  });
  if (spec.os?.name === 'windows') return errors;
  eachContainer(spec, path, ({ name, securityContext }, at) => {
    const text = annotations[`${appArmorPrefix}${name}`];
    const field = securityContext?.appArmorProfile ?? appArmorProfile;
    check(text, field, appArmorWords, 'apparmor', contextOf(at).child('appArmorProfile'));
  });
  return errors;
}

function contextOf(path: FieldPath): FieldPath {
  return path.child('securityContext');
}

function eachContainer(spec: PodSpec, path: FieldPath, visit: (container: Container, at: FieldPath) => void): void {
  for (const field of ['initContainers', 'containers'] as const) {
    spec[field]?.forEach((container, i) => {
      visit(container, path.child(field).index(i));
    });
  }
}

function mismatch(
  text: string,
  { type, localhostProfile }: Profile,
  words: Words,
  noun: string,
  path: FieldPath,
): FieldError | undefined {
  const isSame = type === 'Localhost' ? text.startsWith(localProfilePrefix) : (words[type]?.includes(text) ?? true);
  if (!isSame) return forbidden(path.child('type'), `${noun} type in annotation and field must match`);
  if (type !== 'Localhost' || localhostProfile === text.slice(localProfilePrefix.length)) return undefined;
  return forbidden(path.child('localhostProfile'), `${noun} profile in annotation and field must match`);
}
