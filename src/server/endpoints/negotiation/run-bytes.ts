/** Where the parts of an encoding are written, one after the other. */
export interface ByteSink {
  copyRange(source: Buffer, start: number, end: number): void;
  copyText(text: string): void;
}

/** Enough for the usual runs of a list. */
const firstBytes = 256 * 1024;

/** Bytes that grow. Their memory is used again after `clear`, so one response makes it once, if at all. */
export class RunBytes implements ByteSink {
  private bytes: Buffer = Buffer.alloc(0);
  private used = 0;

  get length(): number {
    return this.used;
  }

  copyRange(source: Buffer, start: number, end: number): void {
    this.reserve(end - start);
    source.copy(this.bytes, this.used, start, end);
    this.used += end - start;
  }

  copyText(text: string): void {
    // A character takes at most three bytes in UTF-8.
    this.reserve(text.length * 3);
    this.used += this.bytes.write(text, this.used);
  }

  /** The bytes of a range. They change with what is written after `clear`. */
  view(start: number, end: number): Buffer {
    return this.bytes.subarray(start, end);
  }

  clear(): void {
    this.used = 0;
  }

  private reserve(more: number): void {
    const needed = this.used + more;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, this.bytes.length * 2, needed));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}
