import { randomFillSync } from 'node:crypto';

/** Random bytes that were fetched in advance: requesting a few from the kernel takes as long as requesting many. */
const ahead = Buffer.alloc(4096);
const idBytes = 8;
let used = ahead.length;

/** A random number of 63 bits, in decimal, by which a batch of writes is found if its response is lost. */
export function newBatchId(): string {
  if (used === ahead.length) {
    randomFillSync(ahead);
    used = 0;
  }
  const bits = ahead.readBigUInt64BE(used) >> 1n;
  used += idBytes;
  return bits.toString();
}
