import { createHash } from 'node:crypto';
import { hostname } from 'node:os';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * The name of a serving process among those of the cluster. It stays the same after a restart, and differs by host,
 * port and, with several processes behind one port, by process. Host and port can't be read from the name.
 *
 * @param host default: this machine's name
 */
export function processIdentity(port: number, worker: number | undefined, host: string = hostname()): string {
  const digest = createHash('sha256')
    .update(`${host}\n${port}\n${worker ?? ''}`)
    .digest();
  return `apiserver-${base32(digest.subarray(0, 16))}`;
}

/** RFC 4648, in lower case, without padding. */
function base32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + alphabet[(value << (5 - bits)) & 31];
}
