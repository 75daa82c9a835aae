import { pooledRandomBytes } from '../../../base/machinery/pooled-random-bytes.js';

/** No vowels and no look-alikes, so that generated names contain no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxBaseLength = 63 - suffixLength;

/** Random source; injected in tests. */
export type RandomBytes = (length: number) => Uint8Array;

/** A name from `metadata.generateName`: the base cut to fit a label, and five random characters. */
export function generateName(base: string, random: RandomBytes = pooledRandomBytes): string {
  let suffix = '';
  while (suffix.length < suffixLength) {
    for (const byte of random(suffixLength * 2)) {
      // Bytes above the largest multiple of the alphabet's length would favour its first letters.
      if (byte < 243 && suffix.length < suffixLength) suffix += alphabet[byte % alphabet.length];
    }
  }
  return base.slice(0, maxBaseLength) + suffix;
}
