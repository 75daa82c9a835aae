import { randomBytes } from 'node:crypto';
import type { Steps } from '../turns.js';

/** The most strings whose hashes are sorted in one step. */
const mostOfChunk = 16 * 1024;
/** The number of loop rounds in one step. */
const roundsOfStep = 256;
/** Hashes are sorted together with a position below this, as one number. */
const positions = 2 ** 20;
/** A secret of the process, so that nobody can choose strings with equal hashes. */
const seed = randomBytes(4).readUInt32LE();

/** Some of the strings, in the order of their hashes. */
interface Chunk {
  readonly hashes: Uint32Array;
  /** Where the text of each string ends. */
  readonly ends: Uint32Array;
  readonly text: Buffer;
}

/**
 * A set of strings that is read rarely and kept for long: each string takes its UTF-8 text and eight bytes, outside of
 * the heap, where a `Set` takes five times as much. A look-up takes about a tenth of a microsecond. Strings with lone
 * surrogates are never found.
 */
export class PackedStrings {
  static readonly empty = new PackedStrings([]);

  private constructor(private readonly chunks: readonly Chunk[]) {}

  /** The set of the strings, in steps; duplicates are allowed. */
  static *inSteps(strings: Iterable<string>): Steps<PackedStrings> {
    const chunks: Chunk[] = [];
    let part: string[] = [];
    for (const one of strings) {
      part.push(one);
      if (part.length < mostOfChunk) continue;
      chunks.push(yield* chunkOf(part));
      part = [];
    }
    if (part.length > 0) chunks.push(yield* chunkOf(part));
    return chunks.length === 0 ? PackedStrings.empty : new PackedStrings(chunks);
  }

  /** The hash of a string, for look-ups of one string in many sets. */
  static hash(value: string): number {
    let hash = seed;
    for (let i = 0; i < value.length; i++) {
      hash = Math.imul(hash ^ value.charCodeAt(i), 0x01000193);
      hash ^= hash >>> 15;
    }
    return hash >>> 0;
  }

  has(value: string, hash = PackedStrings.hash(value)): boolean {
    for (const chunk of this.chunks) if (chunkHas(chunk, value, hash)) return true;
    return false;
  }

  /** Memory of the set in bytes. */
  get bytes(): number {
    return this.chunks.reduce((sum, { hashes, text }) => sum + hashes.length * 8 + text.length + chunkBytes, 0);
  }
}

/** The objects of one chunk; an estimate. */
const chunkBytes = 400;

function* chunkOf(strings: readonly string[]): Steps<Chunk> {
  const order = new Float64Array(strings.length);
  let bytes = 0;
  for (const [i, one] of strings.entries()) {
    order[i] = PackedStrings.hash(one) * positions + i;
    bytes += Buffer.byteLength(one);
    if (i % roundsOfStep === 0) yield;
  }
  order.sort();
  const hashes = new Uint32Array(strings.length);
  const ends = new Uint32Array(strings.length);
  const text = Buffer.allocUnsafeSlow(bytes);
  let end = 0;
  for (const [i, one] of order.entries()) {
    hashes[i] = Math.floor(one / positions);
    end += text.write(strings[one % positions] as string, end);
    ends[i] = end;
    if (i % roundsOfStep === 0) yield;
  }
  return { hashes, ends, text };
}

function chunkHas({ hashes, ends, text }: Chunk, value: string, hash: number): boolean {
  let from = 0;
  let to = hashes.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((hashes[middle] as number) < hash) from = middle + 1;
    else to = middle;
  }
  for (; hashes[from] === hash; from++) {
    const start = from === 0 ? 0 : (ends[from - 1] as number);
    if (text.toString('utf8', start, ends[from]) === value) return true;
  }
  return false;
}
