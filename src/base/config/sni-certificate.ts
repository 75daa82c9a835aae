import { isIP } from 'node:net';

/** A value of `--tls-sni-cert-key`: the files of a pair, and the names it is for. */
export interface SniCertificate {
  /** The file of the certificate in PEM, followed by its intermediates. */
  readonly certificate: string;
  /** The file of its private key in PEM. */
  readonly privateKey: string;
  /** Host names in lower case, `*.` in front for all names one label longer. None: the names of the certificate. */
  readonly names: readonly string[];
}

const label = '[a-z0-9_]([-a-z0-9_]{0,61}[a-z0-9_])?';
const pattern = new RegExp(`^(\\*\\.)?(${label}\\.)*${label}$`);

/** Reads `cert.pem,key.pem` or `cert.pem,key.pem:*.example.com,example.com`. @throws Error with the problem. */
export function parseSniCertificate(text: string): SniCertificate {
  const colon = text.indexOf(':');
  const files = (colon < 0 ? text : text.slice(0, colon)).split(',').map((file) => file.trim());
  const [certificate, privateKey] = files;
  if (files.length !== 2 || !certificate || !privateKey) {
    throw new Error('must have the files of a certificate and its key, with a comma between them');
  }
  if (colon < 0) return { certificate, privateKey, names: [] };
  const names = text
    .slice(colon + 1)
    .split(',')
    .map((name) => name.trim().toLowerCase());
  for (const name of names) {
    if (name === '') throw new Error('must not have an empty name');
    if (isIP(name) !== 0) throw new Error(`names the address ${name}, but clients send host names only`);
    if (!pattern.test(name)) throw new Error(`names ${name}, which is neither a host name nor *. and one`);
  }
  return { certificate, privateKey, names };
}
