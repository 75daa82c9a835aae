import { createPublicKey, KeyObject, X509Certificate } from 'node:crypto';
import {
  type FieldError,
  FieldPath,
  invalid,
  invalidOmitted,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { readPem } from '../../../base/machinery/x509/pem.js';
import type { PodCertificateRequest } from '../../../objects/apis/certificates/v1beta1/pod-certificate-request.types.js';
import { requestedKey } from './requested-key.js';

const statusPath = FieldPath.of('status');
const chainPath = statusPath.child('certificateChain');
const maxChainLength = 100 * 1024;
const minute = 60_000;

/** Returns the first error of the certificate issued for a request, or of the status fields about it. */
export function validateIssuedCertificate({ spec, status }: PodCertificateRequest, now: number): FieldError[] {
  const { certificateChain: chain = '', notBefore, notAfter, beginRefreshAt } = status;
  if (chain.length > maxChainLength) return [tooLong(chainPath, maxChainLength)];
  const [leaf, ...others] = readPem(chain);
  if (leaf === undefined) {
    return [invalid(chainPath, chain, 'issued certificate chain must contain at least one certificate')];
  }
  const onlyCertificates = 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks';
  if (leaf.label !== 'CERTIFICATE') return [invalid(chainPath, chain, onlyCertificates)];
  const certificate = parsed(leaf.der);
  if (certificate === undefined) {
    return [invalid(chainPath, chain, 'leaf certificate does not parse as valid X.509')];
  }
  const key = requestedKey(spec);
  if (!(key instanceof KeyObject)) return [invalidOmitted(FieldPath.of('spec', key.field), key.detail)];
  if (!createPublicKey(certificate.publicKey.export({ format: 'pem', type: 'spki' })).equals(key)) {
    return [invalid(chainPath, chain, 'leaf certificate was not issued to the requested public key')];
  }
  const missing = [
    ...(notBefore
      ? []
      : [required(statusPath.child('notBefore'), 'must be present and consistent with the issued certificate')]),
    ...(notAfter
      ? []
      : [required(statusPath.child('notAfter'), 'must be present and consistent with the issued certificate')]),
    ...(beginRefreshAt
      ? []
      : [
          required(
            statusPath.child('beginRefreshAt'),
            'must be present and in the range [notbefore+10min, notafter-10min]',
          ),
        ]),
  ];
  if (!notBefore || !notAfter || !beginRefreshAt) return missing;
  const problem = timeProblem(
    certificate,
    { notBefore, notAfter, beginRefreshAt },
    spec.maxExpirationSeconds ?? 0,
    now,
  );
  if (problem !== undefined) return [problem];
  for (const { label, der } of others) {
    if (label !== 'CERTIFICATE') return [invalid(chainPath, chain, onlyCertificates)];
    if (parsed(der) === undefined) {
      return [invalid(chainPath, chain, 'intermediate certificate does not parse as valid X.509')];
    }
  }
  return [];
}

function parsed(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}

interface Times {
  readonly notBefore: string;
  readonly notAfter: string;
  readonly beginRefreshAt: string;
}

function timeProblem(
  certificate: X509Certificate,
  times: Times,
  maxSeconds: number,
  now: number,
): FieldError | undefined {
  const wrong = (field: keyof Times, detail: string) => invalid(statusPath.child(field), times[field], detail);
  const [begin, end, refresh] = [times.notBefore, times.notAfter, times.beginRefreshAt].map(Date.parse) as [
    number,
    number,
    number,
  ];
  const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  if (begin !== from) return wrong('notBefore', 'must be set to the NotBefore time encoded in the leaf certificate');
  if (Math.abs(begin - now) >= 5 * minute) {
    return wrong('notBefore', "must be set to within 5 minutes of kube-apiserver's current time");
  }
  if (end !== to) return wrong('notAfter', 'must be set to the NotAfter time encoded in the leaf certificate');
  const lifetime = (to - from) / 1000;
  if (lifetime < 3600) return invalid(chainPath, `${lifetime}s`, 'leaf certificate lifetime must be >= 1 hour');
  if (lifetime > maxSeconds) {
    const detail = `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`;
    return invalid(chainPath, `${lifetime}s`, detail);
  }
  if (refresh < begin + 10 * minute) {
    return wrong('beginRefreshAt', 'must be at least 10 minutes after status.notBefore');
  }
  return refresh > end - 10 * minute
    ? wrong('beginRefreshAt', 'must be at least 10 minutes before status.notAfter')
    : undefined;
}
