/** Pieces below this size are put together. */
const smallBytes = 1024;
/** How many small pieces in a row become one. */
const together = 256;

/**
 * Collects the bytes of a body. A sender decides how long its pieces are, and each is an object of more than a hundred
 * bytes, which may keep the whole read alive that brought it: a body of 3 MB in pieces of one byte would take 500 MB.
 * Small pieces in a row are therefore copied together.
 */
export class BytePieces {
  private readonly kept: Buffer[] = [];
  private small = 0;
  private bytes = 0;

  /** Number of bytes collected. */
  get length(): number {
    return this.bytes;
  }

  /** What is kept of the pieces, in their order. */
  get pieces(): readonly Buffer[] {
    return this.kept;
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    if (piece.length === 0) return;
    this.kept.push(piece);
    this.small = piece.length < smallBytes ? this.small + 1 : 0;
    if (this.small < together) return;
    this.kept.push(Buffer.concat(this.kept.splice(-together)));
    this.small = 0;
  }

  /** All bytes; the piece itself when there is only one. */
  join(): Buffer {
    const [first] = this.kept;
    return first !== undefined && this.kept.length === 1 ? first : Buffer.concat(this.kept, this.bytes);
  }
}
