import { crc32 } from 'node:zlib';
import type { ByteRange } from '../../../storage/storage.interface.js';

/** The reversed polynomial of CRC-32 (RFC 1952 section 8). */
const polynomial = 0xedb88320;
/** The polynomial 1, whose bits are reversed like those of all others here. */
const one = 0x80000000;

/** The product of two polynomials modulo that of CRC-32. */
function product(a: number, b: number): number {
  let sum = 0;
  let shifted = b;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ polynomial : shifted >>> 1;
  }
  return sum >>> 0;
}

/** x to the power of 2^n, for each n. */
const powers: readonly number[] = Array.from({ length: 31 }).reduce<number[]>(
  (known) => [...known, product(known.at(-1) as number, known.at(-1) as number)],
  [one >>> 1],
);

/** The factor by which the checksum of a text must be multiplied when `bytes` bytes follow: x to the power of 8 * bytes. */
export function checksumShift(bytes: number): number {
  let shift = one;
  for (let [rest, n] = [bytes, 3]; rest > 0; rest = Math.floor(rest / 2), n++) {
    if (rest % 2 === 1) shift = product(powers[n % powers.length] as number, shift);
  }
  return shift;
}

/** Bytes in compressed form, which can stand at any place of a gzip stream. */
export interface PackedBytes {
  /** Deflate blocks (RFC 1951) that end at a byte, refer to nothing before them, and do not end the stream. */
  readonly blocks: ByteRange;
  /** Length and CRC-32 of the uncompressed bytes. */
  readonly length: number;
  readonly checksum: number;
  /** {@link checksumShift} of the length. */
  readonly shift: number;
}

/** The most bytes of a block that is stored as it is. */
const mostStored = 0xffff;

/**
 * Puts one gzip member (RFC 1952) together, of parts that were compressed earlier and of others that are not worth
 * compressing. Parts that many responses share are therefore compressed once. Each method returns the bytes to send.
 */
export class GzipPieces {
  private checksum = 0;
  private length = 0;

  begin(): Buffer {
    // Deflate, no flags, no time, the fastest level, an unknown system.
    return Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 0xff]);
  }

  /** Adds bytes without compressing them. */
  stored(bytes: Buffer): Buffer {
    const blocks: Buffer[] = [];
    for (let from = 0; from < bytes.length; from += mostStored) {
      const part = bytes.subarray(from, from + mostStored);
      const head = Buffer.alloc(5);
      head.writeUInt16LE(part.length, 1);
      head.writeUInt16LE(~part.length & mostStored, 3);
      blocks.push(head, part);
    }
    this.add(bytes.length, crc32(bytes), checksumShift(bytes.length));
    return Buffer.concat(blocks);
  }

  packed({ blocks, length, checksum, shift }: PackedBytes): Buffer {
    this.add(length, checksum, shift);
    return blocks.source.subarray(blocks.start, blocks.end);
  }

  end(): Buffer {
    const tail = Buffer.alloc(10);
    // An empty block with fixed codes that ends the stream.
    tail.writeUInt16LE(3, 0);
    tail.writeUInt32LE(this.checksum, 2);
    tail.writeUInt32LE(this.length % 2 ** 32, 6);
    return tail;
  }

  private add(length: number, checksum: number, shift: number): void {
    this.checksum = (product(shift, this.checksum) ^ checksum) >>> 0;
    this.length += length;
  }
}
