import { createHash } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { pooledRandomBytes } from '../../../base/machinery/pooled-random-bytes.js';
import type { Provider } from '../provider.js';
import { derivedKey, newSalt, saltBytes } from './keys.js';

const nonceBytes = 24;
const keyBytes = 32;

/**
 * A configured key for XSalsa20 and Poly1305: salt, nonce, box. A box can't authenticate a context, so the text's key
 * is derived from the context too.
 */
export class SecretBoxProvider implements Provider {
  readonly label: string;

  /** @param secret 32 bytes */
  constructor(
    name: string,
    private readonly secret: Buffer,
  ) {
    this.label = `secretbox:${encodeURIComponent(name)}`;
  }

  seal(plain: Buffer, context: Buffer): Buffer {
    const salt = newSalt();
    const nonce = pooledRandomBytes(nonceBytes);
    const box = xsalsa20poly1305(this.key(salt, context), nonce).encrypt(plain);
    return Buffer.concat([salt, nonce, box]);
  }

  open(sealed: Buffer, context: Buffer): Buffer {
    const salt = sealed.subarray(0, saltBytes);
    const nonce = sealed.subarray(saltBytes, saltBytes + nonceBytes);
    if (nonce.length < nonceBytes) throw new Error('the text is too short');
    const box = xsalsa20poly1305(this.key(salt, context), nonce);
    return Buffer.from(box.decrypt(sealed.subarray(saltBytes + nonceBytes)));
  }

  private key(salt: Buffer, context: Buffer): Buffer {
    const place = createHash('sha256').update(context).digest('hex');
    return derivedKey(this.secret, salt, `secretbox ${place}`, keyBytes);
  }
}
