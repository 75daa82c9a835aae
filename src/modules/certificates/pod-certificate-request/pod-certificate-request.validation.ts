import { KeyObject } from 'node:crypto';
import {
  type FieldError,
  FieldPath,
  invalid,
  invalidOmitted,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { validateAnnotations } from '../../../base/machinery/label-rules.js';
import { isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';
import { validateSignerName } from '../../../objects/apis/certificates/v1/validation/signer-name.validation.js';
import type { PodCertificateRequest } from '../../../objects/apis/certificates/v1beta1/pod-certificate-request.types.js';
import { hasBytes, requestedKey } from './requested-key.js';

type Spec = PodCertificateRequest['spec'];

const specPath = FieldPath.of('spec');
const hour = 60 * 60;
const day = 24 * hour;
const longest = 91 * day;
const maxUidLength = 128;
const maxKeyLength = 10 * 1024;

/** Validates a new request. */
export function validatePodCertificateRequest(spec: Spec, signerPrefix: string): FieldError[] {
  const { signerName, unverifiedUserAnnotations } = spec;
  const signerPath = specPath.child('signerName');
  return [
    ...(signerName === '' ? [required(signerPath)] : validateSignerName(signerName, signerPath)),
    ...annotationErrors(unverifiedUserAnnotations, specPath.child('unverifiedUserAnnotations')),
    ...nameErrors(spec, 'podName'),
    ...uidErrors(spec, 'podUID'),
    ...nameErrors(spec, 'serviceAccountName'),
    ...uidErrors(spec, 'serviceAccountUID'),
    ...nameErrors(spec, 'nodeName'),
    ...uidErrors(spec, 'nodeUID'),
    ...lifetimeErrors(spec, signerPrefix),
    ...keyErrors(spec),
  ];
}

/** Like annotations of objects, but each key needs its domain. */
function annotationErrors(annotations: Spec['unverifiedUserAnnotations'], path: FieldPath): FieldError[] {
  const plain = Object.keys(annotations ?? {}).filter((key) => key !== '' && !key.includes('/'));
  const isName = (key: string) => isQualifiedName(key.toLowerCase()).length === 0;
  return [
    ...validateAnnotations(annotations, path),
    ...plain.filter(isName).map((key) => invalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')),
  ];
}

function nameErrors(spec: Spec, field: 'podName' | 'serviceAccountName' | 'nodeName'): FieldError[] {
  return isDns1123Subdomain(spec[field]).map((message) => invalid(specPath.child(field), spec[field], message));
}

function uidErrors(spec: Spec, field: 'podUID' | 'serviceAccountUID' | 'nodeUID'): FieldError[] {
  const path = specPath.child(field);
  if (spec[field] === '') return [invalid(path, '', 'must not be empty')];
  return spec[field].length > maxUidLength ? [tooLong(path, maxUidLength)] : [];
}

function lifetimeErrors({ signerName, maxExpirationSeconds: seconds = 0 }: Spec, signerPrefix: string): FieldError[] {
  const [domain = ''] = signerName.split('/');
  const isOwn = domain === signerPrefix || domain.endsWith(`.${signerPrefix}`);
  const most = isOwn ? day : longest;
  if (hour <= seconds && seconds <= most) return [];
  return [invalid(specPath.child('maxExpirationSeconds'), seconds, `must be in the range [${hour}, ${most}]`)];
}

function keyErrors(spec: Spec): FieldError[] {
  const { stubPKCS10Request, pkixPublicKey, proofOfPossession } = spec;
  const given = [stubPKCS10Request, pkixPublicKey, proofOfPossession].map(hasBytes).join();
  if (given !== 'true,false,false' && given !== 'false,true,true') {
    const detail = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set';
    return [invalidOmitted(specPath, detail)];
  }
  for (const field of ['stubPKCS10Request', 'pkixPublicKey', 'proofOfPossession'] as const) {
    const length = Buffer.byteLength(spec[field] ?? '', 'base64');
    if (length > maxKeyLength) return [tooLong(specPath.child(field), maxKeyLength)];
  }
  const key = requestedKey(spec);
  if (key instanceof KeyObject) return [];
  const path = specPath.child(key.field);
  return [key.value === undefined ? invalidOmitted(path, key.detail) : invalid(path, key.value, key.detail)];
}
