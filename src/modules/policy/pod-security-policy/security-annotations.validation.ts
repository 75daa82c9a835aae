import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';

const annotationsPath = FieldPath.of('metadata', 'annotations');
const anything = '*';
const localProfile = 'localhost/';

/** Validates the annotations that choose AppArmor and seccomp profiles. */
export function validateSecurityAnnotations(
  annotations: Readonly<Record<string, string>>,
  { labelPrefix }: VendorNames,
): FieldError[] {
  const errors: FieldError[] = [];
  const appArmor = `apparmor.security.beta.${labelPrefix}`;
  const seccomp = `seccomp.security.alpha.${labelPrefix}`;
  const check = (
    key: string,
    profiles: readonly string[] | undefined,
    problem: (profile: string) => string | undefined,
  ) => {
    for (const profile of profiles ?? []) {
      const detail = problem(profile);
      if (detail !== undefined) errors.push(invalid(annotationsPath.key(key), profile, detail));
    }
  };
  const single = (key: string) => (annotations[key] === undefined ? undefined : [annotations[key]]);
  const several = (key: string) => annotations[key]?.split(',').filter((profile) => profile !== anything);
  check(`${appArmor}/defaultProfileName`, single(`${appArmor}/defaultProfileName`), appArmorProblem);
  check(`${appArmor}/allowedProfileNames`, several(`${appArmor}/allowedProfileNames`), appArmorProblem);
  check(`${seccomp}/defaultProfileName`, single(`${seccomp}/defaultProfileName`), seccompProblem);
  check(`${seccomp}/allowedProfileNames`, several(`${seccomp}/allowedProfileNames`), seccompProblem);
  return errors;
}

function appArmorProblem(profile: string): string | undefined {
  const isValid =
    profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith(localProfile);
  return isValid ? undefined : `invalid AppArmor profile name: ${JSON.stringify(profile)}`;
}

function seccompProblem(profile: string): string | undefined {
  if (profile.startsWith(localProfile)) {
    const path = profile.slice(localProfile.length);
    if (path.startsWith('/')) return 'must be a relative path';
    return path.split('/').includes('..') ? "must not contain '..'" : undefined;
  }
  const isValid = profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined';
  return isValid ? undefined : 'must be a valid seccomp profile';
}
