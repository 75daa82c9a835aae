import { createCipheriv, createDecipheriv } from 'node:crypto';
import { pooledRandomBytes } from '../../../base/machinery/pooled-random-bytes.js';
import type { Provider } from '../provider.js';
import { derivedKey, newSalt, saltBytes } from './keys.js';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals with AES-GCM under a key derived for this text: salt, nonce, tag, ciphertext.
 *
 * @param secret 16, 24 or 32 bytes, which is also the length of the derived key
 */
export function sealGcm(secret: Buffer, plain: Buffer, context: Buffer): Buffer {
  const salt = newSalt();
  const nonce = pooledRandomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm(secret), derivedKey(secret, salt, 'aesgcm', secret.length), nonce);
  cipher.setAAD(context);
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), ...sealed]);
}

/** @throws an Error when the text is not what `sealGcm` made with the same secret and context. */
export function openGcm(secret: Buffer, sealed: Buffer, context: Buffer): Buffer {
  const salt = sealed.subarray(0, saltBytes);
  const nonce = sealed.subarray(saltBytes, saltBytes + nonceBytes);
  const rest = saltBytes + nonceBytes + tagBytes;
  if (sealed.length < rest) throw new Error('the text is too short');
  const key = derivedKey(secret, salt, 'aesgcm', secret.length);
  const decipher = createDecipheriv(algorithm(secret), key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(context);
  decipher.setAuthTag(sealed.subarray(rest - tagBytes, rest));
  return Buffer.concat([decipher.update(sealed.subarray(rest)), decipher.final()]);
}

function algorithm(secret: Buffer) {
  return `aes-${(secret.length * 8) as 128 | 192 | 256}-gcm` as const;
}

/** A configured AES-GCM key. */
export class AesGcmProvider implements Provider {
  readonly label: string;

  constructor(
    name: string,
    private readonly secret: Buffer,
  ) {
    this.label = `aesgcm:${encodeURIComponent(name)}`;
  }

  seal(plain: Buffer, context: Buffer): Buffer {
    return sealGcm(this.secret, plain, context);
  }

  open(sealed: Buffer, context: Buffer): Buffer {
    return openGcm(this.secret, sealed, context);
  }
}
