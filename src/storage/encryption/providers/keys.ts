import { hkdfSync } from 'node:crypto';
import { pooledRandomBytes } from '../../../base/machinery/pooled-random-bytes.js';

/** Length in bytes of the random salt that precedes each encrypted text. */
export const saltBytes = 16;

/** A salt for one text. */
export function newSalt(): Buffer {
  return pooledRandomBytes(saltBytes);
}

/**
 * The key of one text (RFC 5869). Each text has a key of its own, so that one configured key may seal any number of
 * texts: with the same key for all, random 96-bit nonces would eventually repeat.
 *
 * @param purpose keeps keys of different uses apart
 */
export function derivedKey(secret: Buffer, salt: Buffer, purpose: string, bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, bytes));
}
