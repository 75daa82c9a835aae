import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** The fields of a certificate that its owner needs. */
export interface CertificateInfo {
  /** Milliseconds since the epoch. */
  readonly from: number;
  /** Milliseconds since the epoch. */
  readonly to: number;
  /** Whether the certificate is for this host name or address. */
  readonly covers: (host: string) => boolean;
}

/** @throws Error for a text that has no certificate in PEM */
export function certificateInfo(text: string): CertificateInfo {
  const certificate = new X509Certificate(text);
  const covers = (host: string) =>
    (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
  return { from: Date.parse(certificate.validFrom), to: Date.parse(certificate.validTo), covers };
}
