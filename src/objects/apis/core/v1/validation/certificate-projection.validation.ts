import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Subdomain, isQualifiedName } from '../../../../../base/machinery/names.js';
import { validateSignerName } from '../../../certificates/v1/validation/signer-name.validation.js';
import { validateLabelSelector } from '../../../meta/v1/validation/label-selector.validation.js';
import type { ClusterTrustBundleProjection, PodCertificateProjection } from '../volume.types.js';
import { checkFilePath } from './file-path.validation.js';

const keyTypes: readonly string[] = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const shortestLifetime = 3600;
const longestLifetime = 91 * 24 * 3600;

/** Validates a file of trust anchors, taken from one bundle or from all bundles of a signer. */
export function validateBundleProjection(
  bundle: ClusterTrustBundleProjection,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { name, signerName, labelSelector } = bundle;
  if (name !== undefined && signerName !== undefined) {
    errors.push(invalid(path, bundle, 'only one of name and signerName may be used'));
  } else if (name !== undefined) {
    if (name === '') errors.push(required(path.child('name'), 'must be a valid object name'));
    for (const message of bundleNameProblems(name)) {
      errors.push(invalid(path.child('name'), name, `not a valid clustertrustbundlename: ${message}`));
    }
    if (labelSelector !== undefined) {
      const detail = 'labelSelector must be unset if name is specified';
      errors.push(invalid(path.child('labelSelector'), labelSelector, detail));
    }
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(required(path.child('signerName'), 'must be a valid signer name'));
    errors.push(...validateSignerName(signerName, path.child('signerName')));
    errors.push(...validateLabelSelector(labelSelector, path.child('labelSelector')));
  } else errors.push(required(path, 'either name or signerName must be specified'));
  if (bundle.path === '') errors.push(required(path.child('path')));
  else checkFilePath(bundle.path, path.child('path'), errors);
}

/** The name of a signer's bundle begins with the signer and a colon, with colons in the place of slashes. */
function bundleNameProblems(name: string): string[] {
  const at = name.lastIndexOf(':');
  const signer = name.slice(0, Math.max(0, at));
  if (!signer.includes('/')) return isDns1123Subdomain(name.slice(at + 1));
  const prefix = `${signer.replaceAll('/', ':')}:`;
  return [`ClusterTrustBundle for signerName ${signer.replaceAll(':', '/')} must be named with prefix ${prefix}`];
}

/** Validates the files of a certificate that is issued for the pod. */
export function validateCertificateProjection(
  certificate: PodCertificateProjection,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds } = certificate;
  errors.push(...validateSignerName(signerName, path.child('signerName')));
  for (const key of Object.keys(certificate.userAnnotations ?? {})) {
    const at = path.child('userAnnotations');
    const problems = isQualifiedName(key.toLowerCase());
    for (const message of problems) errors.push(invalid(at, key, message));
    if (problems.length === 0 && !key.includes('/')) {
      errors.push(invalid(at, key, 'must be a domain-prefixed key (such as "acme.io/foo")'));
    }
  }
  if (!keyTypes.includes(keyType)) errors.push(notSupported(path.child('keyType'), keyType, keyTypes));
  if (seconds !== undefined) {
    const at = path.child('maxExpirationSeconds');
    const rule = 'if provided, maxExpirationSeconds must be';
    if (seconds < shortestLifetime) errors.push(invalid(at, seconds, `${rule} >= ${shortestLifetime}`));
    else if (seconds > longestLifetime) errors.push(invalid(at, seconds, `${rule} <= ${longestLifetime}`));
  }
  const fields = (['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const).filter((f) => certificate[f]);
  if (fields.length === 0) {
    errors.push(required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath'));
  }
  for (const field of fields) checkFilePath(certificate[field] as string, path.child(field), errors);
}
