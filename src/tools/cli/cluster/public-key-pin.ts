import { createHash, type X509Certificate } from 'node:crypto';

/** The pin of an authority: the digest of its public key in the form `sha256:<hex>`, as joining tools take it. */
export function publicKeyPin(certificate: X509Certificate): string {
  const key = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
