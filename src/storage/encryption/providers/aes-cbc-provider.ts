import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { pooledRandomBytes } from '../../../base/machinery/pooled-random-bytes.js';
import type { Provider } from '../provider.js';
import { derivedKey, newSalt, saltBytes } from './keys.js';

const blockBytes = 16;
const macBytes = 32;

/**
 * A configured AES-CBC key. CBC alone does not detect tampering, so an HMAC over context and ciphertext is added: salt,
 * initialisation vector, MAC, ciphertext. Both keys are derived from the configured one.
 */
export class AesCbcProvider implements Provider {
  readonly label: string;

  constructor(
    name: string,
    private readonly secret: Buffer,
  ) {
    this.label = `aescbc:${encodeURIComponent(name)}`;
  }

  seal(plain: Buffer, context: Buffer): Buffer {
    const salt = newSalt();
    const vector = pooledRandomBytes(blockBytes);
    const cipher = createCipheriv(this.algorithm, this.key(salt), vector);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([salt, vector, this.mac(salt, vector, sealed, context), sealed]);
  }

  open(sealed: Buffer, context: Buffer): Buffer {
    const start = saltBytes + blockBytes + macBytes;
    if (sealed.length < start + blockBytes) throw new Error('the text is too short');
    const salt = sealed.subarray(0, saltBytes);
    const vector = sealed.subarray(saltBytes, saltBytes + blockBytes);
    const mac = sealed.subarray(saltBytes + blockBytes, start);
    const text = sealed.subarray(start);
    if (!timingSafeEqual(mac, this.mac(salt, vector, text, context))) throw new Error('the text was changed');
    const decipher = createDecipheriv(this.algorithm, this.key(salt), vector);
    return Buffer.concat([decipher.update(text), decipher.final()]);
  }

  private get algorithm(): string {
    return `aes-${this.secret.length * 8}-cbc`;
  }

  private key(salt: Buffer): Buffer {
    return derivedKey(this.secret, salt, 'aescbc', this.secret.length);
  }

  private mac(salt: Buffer, vector: Buffer, text: Buffer, context: Buffer): Buffer {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(context.length);
    const key = derivedKey(this.secret, salt, 'aescbc mac', macBytes);
    return createHmac('sha256', key).update(length).update(context).update(vector).update(text).digest();
  }
}
