import {
  type FieldError,
  FieldPath,
  invalid,
  invalidOmitted,
  notSupported,
} from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { PodCertificateRequest } from '../../../objects/apis/certificates/v1beta1/pod-certificate-request.types.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import { validateIssuedCertificate } from './issued-certificate.validation.js';

const statusPath = FieldPath.of('status');
const conditionsPath = statusPath.child('conditions');
const outcomes = ['Issued', 'Denied', 'Failed'];

type Conditions = PodCertificateRequest['status']['conditions'];

/** Validates the changed status of a request: it is decided once, and never again. */
export function validateRequestStatus(
  request: PodCertificateRequest,
  old: PodCertificateRequest,
  now: number,
): FieldError[] {
  const { status } = request;
  const errors = conditionErrors(status.conditions);
  if (errors.length > 0) return errors;
  if (outcomeOf(old.status.conditions) !== undefined) {
    const detail = 'immutable after PodCertificateRequest is issued, denied, or failed';
    return deepEqual(status, old.status) ? [] : [invalidOmitted(statusPath, detail)];
  }
  const outcome = outcomeOf(status.conditions);
  if (outcome === 'Issued') return validateIssuedCertificate(request, now);
  if (outcome !== undefined) {
    const { conditions: _, ...others } = status;
    const detail = 'non-condition status fields must be empty when denying or failing the PodCertificateRequest';
    return Object.values(others).every((value) => value === undefined) ? [] : [invalidOmitted(statusPath, detail)];
  }
  const detail = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"';
  return deepEqual(status, old.status) ? [] : [invalidOmitted(statusPath, detail)];
}

/** How a request was decided; undefined if it has not been decided. */
export function outcomeOf(conditions: Conditions): string | undefined {
  return conditions?.find(({ type, status }) => outcomes.includes(type) && status === 'True')?.type;
}

function conditionErrors(conditions: Conditions): FieldError[] {
  const errors: FieldError[] = [];
  let known = 0;
  for (const [i, { type, status }] of (conditions ?? []).entries()) {
    // The path has a dot before the index.
    const path = conditionsPath.child(`[${i}]`);
    if (!outcomes.includes(type)) {
      errors.push(notSupported(path.child('type'), type, outcomes));
      continue;
    }
    known++;
    if (known > 1) {
      const detail = 'There may be at most one condition with type "Issued", "Denied", or "Failed"';
      errors.push(invalid(path.child('type'), type, detail));
    }
    if (status !== 'True') errors.push(notSupported(path.child('status'), status, ['True']));
  }
  errors.push(...validateConditions(conditions ?? [], conditionsPath));
  return errors;
}
