import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { ApiUser } from '../../../../nodes/connection/api-connection.js';
import { ApiError } from '../../../../nodes/connection/api-error.js';
import { OwnFiles } from '../../own-files.js';
import { pemCertificates } from '../pem-certificates.js';
import { publicKeyPin } from '../public-key-pin.js';
import type { CertificateKey } from './certificate-key.js';
import { type SharedFileKey, sharedFileKeys, sharedFiles, sharedFilesSecret } from './shared-files.js';

type Texts = Readonly<Record<SharedFileKey, string>>;

/** The shared files of a cluster, and the Secret that they come from. */
export interface SharedFiles {
  readonly uid: string;
  readonly texts: Texts;
}

/**
 * Gets the shared files of a cluster.
 *
 * @throws StartupError when they are not there any more, or the key is another one
 */
export async function downloadSharedFiles(
  api: ApiUser,
  { systemNamespace }: VendorNames,
  key: CertificateKey,
  signal: AbortSignal,
): Promise<SharedFiles> {
  const path = `/api/v1/namespaces/${systemNamespace}/secrets/${sharedFilesSecret}`;
  let secret: { readonly metadata: { readonly uid: string }; readonly data?: Readonly<Record<string, string>> };
  try {
    secret = await api.send('GET', path, { signal });
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 403)) throw error;
    throw new StartupError(
      `the authorities of the cluster are not handed over (any more): run plinth certs upload on a control plane`,
    );
  }
  const texts: Record<string, string> = {};
  for (const name of sharedFileKeys) {
    const value = secret.data?.[name];
    if (value === undefined) throw new StartupError(`the Secret ${sharedFilesSecret} has no ${name}`);
    const text = key.decrypt(Buffer.from(value, 'base64'));
    if (text === undefined) throw new StartupError(`the Secret ${sharedFilesSecret} has another --certificate-key`);
    texts[name] = text;
  }
  return { uid: secret.metadata.uid, texts: texts as Texts };
}

/** Whether a folder has all shared files, with an authority that is published. */
export async function hasSharedFiles(directory: string, pins: readonly string[]): Promise<boolean> {
  const files = new OwnFiles(directory);
  for (const name of sharedFileKeys) if ((await files.read(sharedFiles[name].file)) === undefined) return false;
  return isOneOf((await files.read(sharedFiles['ca.crt'].file)) ?? '', pins);
}

/**
 * Writes shared files into a folder that has none of them, or the same.
 *
 * @param pins of the published authorities, one of which must be that of the files
 * @throws StartupError before anything is written, when the folder belongs to another cluster
 */
export async function writeSharedFiles(directory: string, texts: Texts, pins: readonly string[]): Promise<void> {
  if (!isOneOf(texts['ca.crt'], pins)) {
    throw new StartupError(
      'nodes know this cluster by another authority than the one that was handed over: give this machine its certificates by hand',
    );
  }
  const files = new OwnFiles(directory);
  for (const name of sharedFileKeys) {
    const { file } = sharedFiles[name];
    const present = await files.read(file);
    if (present === undefined || present === texts[name]) continue;
    throw new StartupError(
      `${files.path(file)} is of another cluster: plinth reset removes it, or name another --config-dir`,
    );
  }
  for (const name of sharedFileKeys) {
    const { file, mode } = sharedFiles[name];
    if ((await files.read(file)) === undefined) await files.write(file, texts[name], mode);
  }
}

function isOneOf(certificate: string, pins: readonly string[]): boolean {
  try {
    return pemCertificates(certificate).some((each) => pins.includes(publicKeyPin(each)));
  } catch {
    return false;
  }
}
