import { createPublicKey, generateKeyPair } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readFileIfPresent, writeFileAtomically } from '../files.js';

const fileName = 'service-account.key';
const rsaBits = 2048;

/**
 * Makes the key that service account tokens are signed with, unless a readable one is in `directory`: tokens outlive
 * restarts. RSA, because other parties that check tokens know RS256 before anything else.
 *
 * @returns the path of the private key in PEM.
 */
export async function ensureServiceAccountKey(directory: string): Promise<string> {
  const path = join(directory, fileName);
  const existing = await readFileIfPresent(path);
  if (existing !== undefined && isReadable(existing)) return path;
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: rsaBits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFileAtomically(path, privateKey, 0o600);
  return path;
}

function isReadable(pem: string): boolean {
  try {
    createPublicKey(pem);
    return true;
  } catch {
    return false;
  }
}
