import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Extension, JsonName } from '@peculiar/x509';
import { canonicalAddress } from '../../config/network.js';

/** A certificate with its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** What a certificate has to be for. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organization?: string;
  readonly usage: 'ca' | 'server' | 'client';
  /** DNS names and IP addresses of a server. */
  readonly names?: readonly string[];
  readonly validDays: number;
}

const dayMs = 86_400_000;
/** Clocks of clients may run behind ours by this much. */
const backdateMs = 3_600_000;

/**
 * Makes an ECDSA P-256 key and a certificate for it, signed by `issuer`, or by itself without one. The libraries for
 * this load on the first call, so that a process that only serves does not carry them.
 */
export async function issueCertificate(request: CertificateRequest, now: number, issuer?: KeyPair): Promise<KeyPair> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const subject: JsonName = [{ CN: [request.commonName] }];
  if (request.organization !== undefined) subject.unshift({ O: [request.organization] });
  const isAuthority = request.usage === 'ca' || issuer === undefined;
  const usages = x509.KeyUsageFlags;
  const extensions: Extension[] = [
    new x509.BasicConstraintsExtension(isAuthority, undefined, true),
    new x509.KeyUsagesExtension(
      (request.usage === 'ca' ? 0 : usages.digitalSignature) | (isAuthority ? usages.keyCertSign | usages.cRLSign : 0),
      true,
    ),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
  ];
  if (request.usage !== 'ca') {
    const usage = request.usage === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
    extensions.push(new x509.ExtendedKeyUsageExtension([usage]));
  }
  if (request.names !== undefined) {
    extensions.push(
      new x509.SubjectAlternativeNameExtension(
        request.names.map((name) => ({ type: isIP(name) === 0 ? ('dns' as const) : ('ip' as const), value: name })),
      ),
    );
  }
  const parameters = {
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + request.validDays * dayMs),
    signingAlgorithm: algorithm,
    extensions,
  };
  let certificate: InstanceType<typeof x509.X509Certificate>;
  if (issuer === undefined) {
    certificate = await x509.X509CertificateGenerator.createSelfSigned({ ...parameters, name: subject, keys });
  } else {
    const issuerCertificate = new x509.X509Certificate(issuer.certificate);
    extensions.push(await x509.AuthorityKeyIdentifierExtension.create(issuerCertificate.publicKey));
    const signingKey = await crypto.subtle.importKey(
      'pkcs8',
      createPrivateKey(issuer.privateKey).export({ type: 'pkcs8', format: 'der' }),
      algorithm,
      false,
      ['sign'],
    );
    certificate = await x509.X509CertificateGenerator.create({
      ...parameters,
      subject,
      issuer: issuerCertificate.subjectName,
      publicKey: keys.publicKey,
      signingKey,
    });
  }
  const privateKey = x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
  return { certificate: `${certificate.toString('pem')}\n`, privateKey: `${privateKey}\n` };
}

/**
 * Whether a stored pair still serves a request: certificate and key belong together, the issuer signed it (itself
 * without one), every name is in it and it lasts for `minimumDays` more.
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
    // Damaged or foreign files: not usable, whatever is wrong with them.
    return false;
  }
}

function subjectNames(certificate: X509Certificate): string[] {
  return (certificate.subjectAltName ?? '').split(', ').map((entry) => {
    const value = entry.slice(entry.indexOf(':') + 1);
    return isIP(value) === 0 ? value : canonicalAddress(value);
  });
}
