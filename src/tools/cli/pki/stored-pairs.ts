import { createPublicKey, X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { OwnFiles } from '../own-files.js';
import { type CertificateRequest, isSignedBy, issueCertificate, type KeyPair } from './issue-certificate.js';

/** A certificate of a folder. */
export interface StoredCertificate {
  /** Name of its file without `.crt`. */
  readonly name: string;
  readonly certificate: X509Certificate;
  /** The certificate of the folder that signed it, which may be itself; undefined for one that is not there. */
  readonly authority: string | undefined;
  /** Whether plinth wrote it and its key, and nobody changed them. */
  readonly isOwn: boolean;
}

const dayMs = 86_400_000;

/** The certificates of a folder with one in each file. @throws StartupError when the folder can't be read */
export async function storedCertificates(directory: string): Promise<StoredCertificate[]> {
  const files = new OwnFiles(directory);
  const entries = await readdir(directory).catch(() => {
    throw new StartupError(`there is no folder ${directory}: name another --cert-dir`);
  });
  const found: { readonly name: string; readonly certificate: X509Certificate; readonly pem: string }[] = [];
  for (const entry of entries.filter((each) => each.endsWith('.crt')).sort()) {
    const pem = (await files.read(entry)) ?? '';
    try {
      found.push({ name: entry.slice(0, -'.crt'.length), certificate: new X509Certificate(pem), pem });
    } catch {
      throw new StartupError(`${files.path(entry)}: no certificate in PEM`);
    }
  }
  return Promise.all(
    found.map(async ({ name, certificate }) => ({
      name,
      certificate,
      authority: found.find(({ pem, certificate: { ca } }) => ca && isSignedBy(certificate, pem))?.name,
      isOwn: (await files.mayWrite(`${name}.crt`)) && (await files.mayWrite(`${name}.key`)),
    })),
  );
}

/**
 * Replaces a certificate and its key by new ones with the same content and the same length of life. The files keep their owners
 * and modes, and each is exchanged as a whole.
 *
 * @returns why it stays; undefined when it is renewed
 */
export async function renewStored(
  directory: string,
  stored: StoredCertificate,
  now: number,
): Promise<string | undefined> {
  const { name, certificate, authority, isOwn } = stored;
  if (certificate.ca && authority === name)
    return 'an authority: all that it signed would have to be exchanged with it';
  if (!isOwn) return 'somebody else made it';
  const files = new OwnFiles(directory);
  const issuer = authority === undefined ? undefined : await issuerOf(files, authority);
  if (issuer === undefined) return 'the key of its authority is not here';
  const pair = await issueCertificate(requestOf(certificate), now, issuer);
  // The key comes first: after a stop between the two, the next run sees that they do not belong together.
  await files.rewrite(`${name}.key`, pair.privateKey);
  await files.rewrite(`${name}.crt`, pair.certificate);
  return undefined;
}

async function issuerOf(files: OwnFiles, authority: string): Promise<KeyPair | undefined> {
  const certificate = await files.read(`${authority}.crt`);
  const privateKey = await files.read(`${authority}.key`);
  if (certificate === undefined || privateKey === undefined) return undefined;
  const own = createPublicKey(privateKey).equals(new X509Certificate(certificate).publicKey);
  return own ? { certificate, privateKey } : undefined;
}

const serverUsage = '1.3.6.1.5.5.7.3.1';

/** The content of a certificate, as a request for a new one. */
function requestOf(certificate: X509Certificate): CertificateRequest {
  const fields = certificate.subject.split('\n').map((line) => {
    const equals = line.indexOf('=');
    return [line.slice(0, equals), line.slice(equals + 1)] as const;
  });
  const valuesOf = (key: string) => fields.flatMap(([name, value]) => (name === key ? [value] : []));
  const names = (certificate.subjectAltName ?? '')
    .split(', ')
    .map((entry) => entry.slice(entry.indexOf(':') + 1))
    .filter((name) => name !== '');
  const life = Date.parse(certificate.validTo) - Date.parse(certificate.validFrom);
  return {
    commonName: valuesOf('CN')[0] ?? '',
    organization: valuesOf('O'),
    usage: (certificate.keyUsage ?? []).includes(serverUsage) ? 'server' : 'client',
    names: names.map((name) => (isIP(name) === 0 ? name : name.toLowerCase())),
    validDays: Math.floor(life / dayMs),
  };
}
