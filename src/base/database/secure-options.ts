import { readFile } from 'node:fs/promises';
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type SecureContext,
} from 'node:tls';
import type { TlsSettings } from './tls-settings.js';

/** The certificates of the store: hundreds, which take some 10 ms to read. */
let store: string[] | undefined;
/** Contexts of settings that name no files; they are the same for every connection. */
const withoutFiles = new Map<string, SecureContext>();

/** Reads the files of the settings. Rejects with the system's error when one can't be read. */
export async function secureOptions(settings: TlsSettings): Promise<ConnectionOptions> {
  const { verify, negotiation } = settings;
  return {
    secureContext: await contextOf(settings),
    rejectUnauthorized: verify !== 'nothing',
    checkServerIdentity: verify === 'name' ? checkServerIdentity : () => undefined,
    // The callback confirms that the server agreed to this protocol; without it nothing was negotiated.
    ...(negotiation === 'direct' ? { ALPNProtocols: ['postgresql'] } : {}),
  };
}

async function contextOf(settings: TlsSettings): Promise<SecureContext> {
  const { rootCertificates, certificate, key, passphrase, revocations, minVersion, maxVersion } = settings;
  const hasFiles = (rootCertificates ?? 'store') !== 'store' || certificate !== undefined || revocations !== undefined;
  const name = JSON.stringify([rootCertificates, minVersion, maxVersion]);
  const known = hasFiles ? undefined : withoutFiles.get(name);
  if (known !== undefined) return known;
  const context = createSecureContext({
    ...(rootCertificates === undefined ? {} : { ca: await trusted(rootCertificates) }),
    ...(certificate === undefined ? {} : { cert: await readFile(certificate) }),
    ...(key === undefined ? {} : { key: await readFile(key) }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(revocations === undefined ? {} : { crl: await readFile(revocations) }),
    ...(minVersion === undefined ? {} : { minVersion }),
    ...(maxVersion === undefined ? {} : { maxVersion }),
  });
  if (!hasFiles) withoutFiles.set(name, context);
  return context;
}

async function trusted(path: string): Promise<string | string[]> {
  if (path !== 'store') return await readFile(path, 'utf8');
  store ??= [...new Set([...getCACertificates('default'), ...getCACertificates('system')])];
  return store;
}
