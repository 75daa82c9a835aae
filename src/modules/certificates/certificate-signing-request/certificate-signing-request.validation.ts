import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { CertificateRequestError } from '../../../base/machinery/x509/certificate-request-error.js';
import {
  type CertificateSigningRequest,
  type CertificateSigningRequestSpec,
  keyUsage,
} from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { validateSignerName } from '../../../objects/apis/certificates/v1/validation/signer-name.validation.js';

const specPath = FieldPath.of('spec');
const minExpirationSeconds = 600;
const maxBytesShown = 1024;
const knownUsages: ReadonlySet<string> = new Set(keyUsage.values);

/** The differences between the served versions. */
export interface RequestRules {
  /** The signer that this version refuses; undefined when all are allowed. */
  readonly refusedSigner: string | undefined;
  /** Whether usages must be known and listed once. */
  readonly checkUsages: boolean;
}

/** Validates a new CertificateSigningRequest. */
export function validateCertificateSigningRequest(
  { spec }: CertificateSigningRequest,
  rules: RequestRules,
): FieldError[] {
  const errors = validateRequest(spec.request);
  validateUsages(spec, rules, errors);
  const signerPath = specPath.child('signerName');
  if (rules.refusedSigner !== undefined && spec.signerName === rules.refusedSigner) {
    const detail = 'the legacy signerName is not allowed via this API version';
    errors.push(invalid(signerPath, spec.signerName, detail));
  } else {
    errors.push(...validateSignerName(spec.signerName, signerPath));
  }
  const { expirationSeconds } = spec;
  if (expirationSeconds !== undefined && expirationSeconds < minExpirationSeconds) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(invalid(specPath.child('expirationSeconds'), expirationSeconds, detail));
  }
  return errors;
}

function validateRequest(request: string | null): FieldError[] {
  const bytes = Buffer.from(request ?? '', 'base64');
  try {
    parseCertificateRequest(bytes);
    return [];
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error;
    const message = `Invalid value: ${showBytes(request === null ? undefined : bytes)}: ${error.message}`;
    return [{ type: 'FieldValueInvalid', field: 'spec.request', message }];
  }
}

/** Bytes as JSON shows them; long ones are cut, since there may be megabytes. */
function showBytes(bytes: Buffer | undefined): string {
  if (bytes === undefined) return 'null';
  const text = bytes.subarray(0, maxBytesShown).toString('base64');
  return JSON.stringify(bytes.length > maxBytesShown ? `${text}...` : text);
}

function validateUsages(spec: CertificateSigningRequestSpec, rules: RequestRules, errors: FieldError[]): void {
  const path = specPath.child('usages');
  const usages = spec.usages ?? [];
  if (usages.length === 0) errors.push(required(path));
  if (!rules.checkUsages) return;
  const seen = new Set<string>();
  for (const [i, usage] of usages.entries()) {
    if (!knownUsages.has(usage)) errors.push(notSupported(path.index(i), usage, keyUsage.values));
    if (seen.has(usage)) errors.push(duplicate(path.index(i), usage));
    seen.add(usage);
  }
}
