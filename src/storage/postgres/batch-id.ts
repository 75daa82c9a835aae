import { randomFillSync } from 'node:crypto';

/** Random bytes are taken ahead: asking the kernel for a few takes as long as asking for many. */
const ahead = Buffer.alloc(4096);
const idBytes = 8;
let used = ahead.length;

/** A random number of 63 bits for a batch of writes, in decimal: by it the batch is found again if its answer is lost. */
export function newBatchId(): string {
  if (used === ahead.length) {
    randomFillSync(ahead);
    used = 0;
  }
  const bits = ahead.readBigUInt64BE(used) >> 1n;
  used += idBytes;
  return bits.toString();
}
