import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { canonicalAddress } from '../../../base/config/network.js';
import { CertificateAuthority } from '../../../base/machinery/x509/certificate-authority.js';
import { writeName } from '../../../base/machinery/x509/distinguished-name.js';
import { certificateUsages } from '../../../base/machinery/x509/key-usages.js';

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** The requirements on a certificate. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organization?: string | readonly string[];
  readonly usage: 'ca' | 'server' | 'client';
  /** DNS names and IP addresses of a server. */
  readonly names?: readonly string[];
  readonly validDays: number;
}

const dayMs = 86_400_000;
/** The clocks of clients may be late by this much. */
const backdateMs = 3_600_000;

/** Makes an ECDSA P-256 key and a certificate for it, signed by `issuer`, or by itself without one. */
export async function issueCertificate(request: CertificateRequest, now: number, issuer?: KeyPair): Promise<KeyPair> {
  const keys = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
  const organizations = [request.organization ?? []].flat();
  const subject = writeName({ commonName: request.commonName, organizations });
  const notAfter = now + request.validDays * dayMs;
  const authority =
    issuer === undefined
      ? CertificateAuthority.selfSigned(subject, keys.privateKey, notAfter)
      : CertificateAuthority.fromPem(issuer.certificate, issuer.privateKey);
  const isAuthority = request.usage === 'ca' || issuer === undefined;
  const names = request.names ?? [];
  const certificate = authority.issue({
    subject,
    publicKey: keys.publicKey.export({ type: 'spki', format: 'der' }),
    names: {
      dnsNames: names.filter((name) => isIP(name) === 0),
      ipAddresses: names.filter((name) => isIP(name) !== 0),
      emailAddresses: [],
      uris: [],
    },
    usages: certificateUsages([
      ...(request.usage === 'ca' ? [] : ['digital signature', `${request.usage} auth`]),
      ...(isAuthority ? ['cert sign', 'crl sign'] : []),
    ]),
    notBefore: now - backdateMs,
    notAfter,
    isAuthority,
  });
  return { certificate, privateKey: privateKeyPem(keys.privateKey) };
}

/** A private key in the form of its own algorithm: for ECDSA, not every client reads the general form (PKCS#8). */
export function privateKeyPem(key: KeyObject): string {
  const type = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1';
  return String(key.export({ type, format: 'pem' }));
}

/**
 * Whether a stored pair still serves a request: certificate and key belong together, the issuer signed it (without one
 * it signed itself), every name is in it, and it lasts for `minimumDays` more.
 */
export function isUsable(
  pair: KeyPair,
  request: CertificateRequest,
  now: number,
  minimumDays: number,
  issuer?: KeyPair,
): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    const signer = issuer === undefined ? certificate : new X509Certificate(issuer.certificate);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.privateKey))) return false;
    if (!certificate.checkIssued(signer) || !certificate.verify(signer.publicKey)) return false;
    if (Date.parse(certificate.validTo) < now + minimumDays * dayMs) return false;
    const present = new Set(subjectNames(certificate));
    return (request.names ?? []).every((name) => present.has(isIP(name) === 0 ? name : canonicalAddress(name)));
  } catch {
    // Damaged or foreign files are not usable, whatever is wrong with them.
    return false;
  }
}

function subjectNames(certificate: X509Certificate): string[] {
  return (certificate.subjectAltName ?? '').split(', ').map((entry) => {
    const value = entry.slice(entry.indexOf(':') + 1);
    return isIP(value) === 0 ? value : canonicalAddress(value);
  });
}

/**
 * Why a pair that others made can't be used now; undefined when it can. Its names and its issuer are up to them.
 *
 * @param issuer must have signed the certificate, when given.
 */
export function foreignProblem(
  pair: KeyPair,
  request: Pick<CertificateRequest, 'usage'>,
  now: number,
  issuer?: KeyPair,
): string | undefined {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pair.certificate);
  } catch {
    return 'the certificate cannot be read';
  }
  try {
    if (!certificate.checkPrivateKey(createPrivateKey(pair.privateKey)))
      return 'the key is not that of the certificate';
  } catch {
    return 'the private key cannot be read';
  }
  if (Date.parse(certificate.validTo) <= now) return 'the certificate has expired';
  if (Date.parse(certificate.validFrom) > now) return 'the certificate is not valid yet';
  if (request.usage === 'ca' && !certificate.ca) return 'the certificate is not that of an authority';
  return issuer === undefined || isSignedBy(certificate, issuer.certificate)
    ? undefined
    : 'the certificate is not signed by the authority beside it';
}

/** Whether one certificate signed another. */
export function isSignedBy(certificate: X509Certificate, issuerPem: string): boolean {
  try {
    const issuer = new X509Certificate(issuerPem);
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
