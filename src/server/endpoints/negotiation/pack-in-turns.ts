import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGzip } from 'node:zlib';

/** How long the event loop may be held before yielding to other work, in milliseconds. */
const turnMs = 5;

/** Compressed content that is kept and sent many times. */
export interface Packed {
  /** Digest of the content, in upper-case hexadecimal. */
  readonly digest: string;
  readonly compressed: Buffer;
  /** Length of the content, in bytes. */
  readonly length: number;
}

/** Digests and compresses content while its parts are generated, yielding to other work. */
export async function packInTurns(
  parts: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<Packed> {
  const hash = createHash('sha256');
  const encoder = createGzip();
  const compressed: Buffer[] = [];
  let length = 0;
  encoder.on('data', (chunk: Buffer) => compressed.push(chunk));
  const ended = once(encoder, 'end');
  // The failure reaches the caller, which awaits the end.
  ended.catch(() => undefined);
  try {
    let began = performance.now();
    for await (const part of parts) {
      if (part.length > 0) {
        hash.update(part);
        length += Buffer.byteLength(part);
        if (!encoder.write(part)) await once(encoder, 'drain');
      }
      if (performance.now() - began < turnMs) continue;
      await nextTurn();
      began = performance.now();
    }
    encoder.end();
    await ended;
  } finally {
    encoder.destroy();
  }
  return { digest: hash.digest('hex').toUpperCase(), compressed: Buffer.concat(compressed), length };
}
