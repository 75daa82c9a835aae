import type { ByteRange } from '../../../storage/storage.interface.js';
import type { ByteSink } from './run-bytes.js';

/** Minimum size of the blocks for written bytes; shorter ranges are sent together. */
const blockBytes = 64 * 1024;
/** Shorter ranges are copied into one block: sending one longer piece costs less than many short ones. */
const shortRange = 16 * 1024;

interface OpenRange {
  readonly source: Buffer;
  readonly start: number;
  end: number;
}

/** A body assembled from ranges of bytes in other buffers, and from copies. */
export class ByteRanges implements ByteSink {
  private readonly ranges: OpenRange[] = [];
  private total = 0;
  private block: Buffer = Buffer.alloc(0);
  private used = 0;

  /** Length of everything, in bytes. */
  get length(): number {
    return this.total;
  }

  /** Adds bytes that are never changed, without copying them. */
  add({ source, start, end }: ByteRange): void {
    if (start === end) return;
    const last = this.ranges.at(-1);
    if (last?.source === source && last.end === start) last.end = end;
    else this.ranges.push({ source, start, end });
    this.total += end - start;
  }

  copy(bytes: Uint8Array): void {
    const { block, start } = this.allocate(bytes.length);
    block.set(bytes, start);
    this.wrote(bytes.length);
  }

  copyRange(source: Buffer, from: number, to: number): void {
    const { block, start } = this.allocate(to - from);
    source.copy(block, start, from, to);
    this.wrote(to - from);
  }

  copyText(text: string): void {
    // A character takes at most three bytes in UTF-8.
    const most = text.length < shortRange ? text.length * 3 : Buffer.byteLength(text);
    const { block, start } = this.allocate(most);
    this.wrote(block.write(text, start));
  }

  /** The body from the byte at `from`, in pieces that are each long enough for a write. */
  *pieces(from = 0): Generator<Buffer> {
    let left = from;
    let short: Buffer[] = [];
    let bytes = 0;
    for (const { source, start, end } of this.ranges) {
      const skipped = Math.min(left, end - start);
      left -= skipped;
      const range = source.subarray(start + skipped, end);
      if (bytes + range.length > blockBytes && bytes > 0) {
        yield Buffer.concat(short, bytes);
        short = [];
        bytes = 0;
      }
      if (range.length >= shortRange && bytes === 0) yield range;
      else {
        short.push(range);
        bytes += range.length;
      }
    }
    if (bytes > 0) yield Buffer.concat(short, bytes);
  }

  private allocate(length: number): { readonly block: Buffer; readonly start: number } {
    if (this.used + length > this.block.length) {
      this.block = Buffer.allocUnsafeSlow(Math.max(blockBytes, length));
      this.used = 0;
    }
    return { block: this.block, start: this.used };
  }

  private wrote(length: number): void {
    const start = this.used;
    this.used += length;
    this.add({ source: this.block, start, end: this.used });
  }
}
