import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import type { CSIDriver, CSIDriverSpec } from '../../../objects/apis/storage/v1/csi-driver.types.js';

const specPath = FieldPath.of('spec');
const lifecycleModes = ['Persistent', 'Ephemeral'];
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const minTokenSeconds = 10 * 60;
const maxTokenSeconds = 2 ** 32;
const minUpdatePeriodSeconds = 10;

/** Fields that cannot change once volumes rely on them; all other fields of the spec may. */
const immutableFields = ['attachRequired', 'volumeLifecycleModes'] as const;

/** Fills in the defaults of a CSIDriver: it attaches persistent volumes and has no special needs. */
export function applyCsiDriverDefaults({ spec }: CSIDriver): void {
  spec.attachRequired ??= true;
  spec.podInfoOnMount ??= false;
  spec.storageCapacity ??= false;
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType';
  spec.requiresRepublish ??= false;
  spec.seLinuxMount ??= false;
  spec.preventPodSchedulingIfMissing ??= false;
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent'];
}

/** Validates a new CSIDriver. */
export function validateCsiDriver(object: CSIDriver): FieldError[] {
  return validateSpec(object.spec);
}

/** Validates a changed CSIDriver. */
export function validateCsiDriverUpdate(object: CSIDriver, old: CSIDriver): FieldError[] {
  const errors = validateSpec(object.spec);
  for (const field of immutableFields) {
    if (!isDeepStrictEqual(object.spec[field], old.spec[field])) {
      // Clients know the first field by this name.
      const shown = field === 'attachRequired' ? 'attachedRequired' : field;
      errors.push(invalid(specPath.child(shown), object.spec[field], 'field is immutable'));
    }
  }
  return errors;
}

function validateSpec(spec: CSIDriverSpec): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['attachRequired', 'podInfoOnMount', 'storageCapacity'] as const) {
    if (spec[field] === undefined) errors.push(required(specPath.child(field)));
  }
  const { fsGroupPolicy, nodeAllocatableUpdatePeriodSeconds: period } = spec;
  if (fsGroupPolicy === undefined) errors.push(required(specPath.child('fsGroupPolicy')));
  else if (!fsGroupPolicies.includes(fsGroupPolicy)) {
    errors.push(notSupported(specPath.child('fsGroupPolicy'), fsGroupPolicy, fsGroupPolicies));
  }
  validateTokenRequests(spec.tokenRequests ?? [], errors);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode)) {
      errors.push(notSupported(specPath.child('volumeLifecycleModes'), mode, lifecycleModes));
    }
  }
  if (period !== undefined && period < minUpdatePeriodSeconds) {
    const detail = `must be greater than or equal to ${minUpdatePeriodSeconds} seconds`;
    errors.push(invalid(specPath.child('nodeAllocatableUpdatePeriodSeconds'), period, detail));
  }
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified';
    errors.push(invalid(specPath.child('serviceAccountTokenInSecrets'), spec.serviceAccountTokenInSecrets, detail));
  }
  return errors;
}

function validateTokenRequests(requests: NonNullable<CSIDriverSpec['tokenRequests']>, errors: FieldError[]): void {
  const path = specPath.child('tokenRequests');
  const audiences = new Set<string>();
  for (const [i, { audience, expirationSeconds }] of requests.entries()) {
    if (audiences.has(audience)) {
      errors.push(duplicate(path.index(i).child('audience'), audience));
      continue;
    }
    audiences.add(audience);
    if (expirationSeconds === undefined) continue;
    const at = path.index(i).child('expirationSeconds');
    if (expirationSeconds < minTokenSeconds) {
      errors.push(invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes'));
    }
    if (expirationSeconds > maxTokenSeconds) {
      errors.push(invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'));
    }
  }
}
