import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { JWK } from 'jose';
import { KeyFileError } from './key-file-error.js';

/** A public key that verifies service account tokens. */
export interface VerificationKey {
  /** Digest of the key; the same in every process. */
  readonly id: string;
  /** The only JWS algorithm that the key is used with. */
  readonly algorithm: SigningAlgorithm;
  readonly key: KeyObject;
}

/** JWS algorithms of service account tokens (RFC 7518 section 3.1). */
export type SigningAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

const algorithmOfCurve: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
const minRsaBits = 2048;
const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;
/** A block that some tools write before an EC private key. */
const ignoredBlock = 'EC PARAMETERS';

/**
 * The public keys of a PEM file: public keys, the public halves of private keys, and the keys of certificates.
 *
 * @throws KeyFileError when the file has no key, or one that is neither RSA of 2048 bits or more nor ECDSA on P-256,
 *   P-384 or P-521.
 */
export function readVerificationKeys(path: string): VerificationKey[] {
  const keys: VerificationKey[] = [];
  for (const [block, label] of readKeyPem(path).matchAll(pemBlock)) {
    if (label !== ignoredBlock) keys.push(verificationKey(publicKeyOf(block, path), path));
  }
  if (keys.length === 0) throw new KeyFileError(`${path} has no key in PEM`);
  return keys;
}

/** Describes a public key. Messages name `source` as its origin. */
export function verificationKey(key: KeyObject, source: string): VerificationKey {
  const der = key.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest('base64url');
  return Object.freeze({ id, algorithm: signingAlgorithm(key, source), key });
}

/** The JWS algorithm for a public or private key. Throws {@link KeyFileError} for an unsupported key. */
export function signingAlgorithm(key: KeyObject, source: string): SigningAlgorithm {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength >= minRsaBits) return 'RS256';
    throw new KeyFileError(`${source} has an RSA key of ${modulusLength} bits: at least ${minRsaBits} are needed`);
  }
  const algorithm = key.asymmetricKeyType === 'ec' ? algorithmOfCurve[namedCurve] : undefined;
  if (algorithm !== undefined) return algorithm;
  throw new KeyFileError(`${source} has a key that is neither RSA nor ECDSA on P-256, P-384 or P-521`);
}

/** The key in the format of a key set document (RFC 7517). */
export function toJwk({ key, id, algorithm }: VerificationKey): JWK {
  const jwk = key.export({ format: 'jwk' }) as JWK;
  return { use: 'sig', ...jwk, kid: id, alg: algorithm };
}

/** The content of a key file. Throws {@link KeyFileError} when it can't be read. */
export function readKeyPem(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new KeyFileError(`can't read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

function publicKeyOf(block: string, path: string): KeyObject {
  try {
    return createPublicKey(block);
  } catch (error) {
    // The cause is omitted, since it could quote the block.
    throw new KeyFileError(
      `${path} has a key that can't be read: ${(error as NodeJS.ErrnoException).code ?? 'bad PEM'}`,
    );
  }
}
