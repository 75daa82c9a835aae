import { X509Certificate } from 'node:crypto';
import { readPem } from '../../../base/machinery/x509/pem.js';

/** The certificates in a text. @throws Error for one that can't be read; none is not an error */
export function pemCertificates(text: string): X509Certificate[] {
  return readPem(text).flatMap(({ label, der }) => (label === 'CERTIFICATE' ? [new X509Certificate(der)] : []));
}
