import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * The key that authorities are encrypted with on their way to another control plane. Encrypted data are a nonce, the ciphertext
 * and its tag (AES-256 in Galois/Counter mode), as kubeadm writes and reads them.
 */
export class CertificateKey {
  private constructor(private readonly bytes: Buffer) {}

  static generate(): CertificateKey {
    return new CertificateKey(randomBytes(keyBytes));
  }

  /** @param hex 64 hexadecimal digits */
  static parse(hex: string): CertificateKey {
    const bytes = Buffer.from(hex, 'hex');
    if (bytes.length !== keyBytes) throw new Error('a certificate key has 32 bytes');
    return new CertificateKey(bytes);
  }

  encrypt(text: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const work = createCipheriv(cipher, this.bytes, nonce);
    return Buffer.concat([nonce, work.update(text, 'utf8'), work.final(), work.getAuthTag()]);
  }

  /** Undefined for data that this key did not encrypt, or that somebody changed. */
  decrypt(data: Buffer): string | undefined {
    if (data.length < nonceBytes + tagBytes) return undefined;
    const work = createDecipheriv(cipher, this.bytes, data.subarray(0, nonceBytes), { authTagLength: tagBytes });
    work.setAuthTag(data.subarray(-tagBytes));
    try {
      return Buffer.concat([work.update(data.subarray(nonceBytes, -tagBytes)), work.final()]).toString('utf8');
    } catch {
      return undefined;
    }
  }

  /** The key as people hand it over. It is a secret. */
  toString(): string {
    return this.bytes.toString('hex');
  }
}
