import { createPrivateKey, generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { advice, OwnFiles } from '../own-files.js';
import { privateKeyPem } from './issue-certificate.js';

const fileName = 'service-account.key';
const rsaBits = 2048;

/**
 * Makes the key that signs service account tokens, unless `directory` has a readable one: tokens outlive restarts. RSA,
 * because every party that checks tokens knows RS256.
 *
 * @returns the path of the private key in PEM.
 *
 * @throws StartupError when the file is foreign and is not a key.
 */
export async function ensureServiceAccountKey(directory: string): Promise<string> {
  const files = new OwnFiles(directory);
  const path = files.path(fileName);
  const existing = await files.read(fileName);
  if (existing !== undefined && isReadable(existing)) return path;
  if (!(await files.mayWrite(fileName))) {
    throw new StartupError(`${path} was not made by plinth and can't be used: it has no private key; ${advice}`);
  }
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: rsaBits });
  await files.write(fileName, privateKeyPem(privateKey), 0o600);
  return path;
}

function isReadable(pem: string): boolean {
  try {
    createPrivateKey(pem);
    return true;
  } catch {
    return false;
  }
}
