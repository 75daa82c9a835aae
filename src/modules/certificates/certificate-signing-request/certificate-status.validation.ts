import { X509Certificate } from 'node:crypto';
import {
  duplicate,
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { readPem } from '../../../base/machinery/x509/pem.js';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';

const conditionsPath = FieldPath.of('status', 'conditions');
const certificatePath = FieldPath.of('status', 'certificate');
const statuses = ['False', 'True', 'Unknown'];

/** Conditions that record the outcome of a request: they are true or absent, and are never removed. */
const finalTypes = ['Approved', 'Denied', 'Failed'];
/** Conditions that only the approval path may add. */
const approvalTypes = ['Approved', 'Denied'];

/** Validates an update through the `approval` path. */
export function validateApproval(object: CertificateSigningRequest, old: CertificateSigningRequest): FieldError[] {
  const errors = validateConditions(object.status.conditions ?? []);
  errors.push(...removedConditions(object, old));
  return errors;
}

/** Validates an update through the `status` path. */
export function validateCertificateStatus(
  object: CertificateSigningRequest,
  old: CertificateSigningRequest,
): FieldError[] {
  const errors = validateConditions(object.status.conditions ?? []);
  const before = old.status.certificate ?? '';
  const now = object.status.certificate ?? '';
  const problem = before === now ? undefined : certificateProblem(now);
  if (problem !== undefined) errors.push(invalid(certificatePath, '<certificate data>', problem));
  errors.push(...removedConditions(object, old));
  for (const type of approvalTypes) {
    if (hasCondition(object, type) && !hasCondition(old, type)) {
      errors.push(forbidden(conditionsPath, `updates may not add a condition of type "${type}"`));
    }
  }
  if (before !== now && before !== '') {
    errors.push(forbidden(certificatePath, 'updates may not modify existing certificate content'));
  }
  return errors;
}

function validateConditions(conditions: readonly CertificateSigningRequestCondition[]): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { type, status }] of conditions.entries()) {
    const path = conditionsPath.index(i);
    if (type === '') errors.push(required(path.child('type')));
    const allowed = finalTypes.includes(type) ? ['True'] : statuses;
    if (status === '') errors.push(required(path.child('status')));
    else if (!allowed.includes(status)) errors.push(notSupported(path.child('status'), status, allowed));
    if (seen.has(type)) errors.push(duplicate(path.child('type'), type));
    seen.add(type);
  }
  if (seen.has('Approved') && seen.has('Denied')) {
    const [approved, denied] = ['{"type": "Approved"}', '{"type": "Denied"}'];
    const shown = `{conditions[${approved}], conditions[${denied}]}`;
    const detail = `must specify at most one of: \`conditions[${approved}]\`, \`conditions[${denied}]\``;
    errors.push(invalid(conditionsPath, shown, detail));
  }
  return errors;
}

function removedConditions(object: CertificateSigningRequest, old: CertificateSigningRequest): FieldError[] {
  return finalTypes
    .filter((type) => hasCondition(old, type) && !hasCondition(object, type))
    .map((type) => forbidden(conditionsPath, `updates may not remove a condition of type "${type}"`));
}

function hasCondition(object: CertificateSigningRequest, type: string): boolean {
  return (object.status.conditions ?? []).some((condition) => condition.type === type);
}

/**
 * The fault in a signed certificate, which must consist of PEM blocks of certificates without headers; any text may
 * surround them.
 */
function certificateProblem(certificate: string): string | undefined {
  if (certificate === '') return undefined;
  const blocks = readPem(Buffer.from(certificate, 'base64').toString('latin1'));
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { label, hasHeaders, der } of blocks) {
    if (label !== 'CERTIFICATE') {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
    }
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (der.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    const problem = derProblem(der);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function derProblem(der: Buffer): string | undefined {
  try {
    return new X509Certificate(der).raw.length === der.length ? undefined : 'x509: trailing data';
  } catch {
    return 'x509: malformed certificate';
  }
}
