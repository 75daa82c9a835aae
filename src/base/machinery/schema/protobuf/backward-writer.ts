const firstBytes = 16 * 1024;
/** A larger buffer is not used again, so that one large message does not occupy memory for good. */
const mostKept = 1024 * 1024;
/** Longer texts are written by the engine's own code, which needs a call; shorter ones byte by byte. */
const shortText = 40;

/**
 * Writes the bytes of a message from its end to its beginning: when the head of a nested message is written, its length
 * is known. Every method writes in front of what was written before, so callers write the last field first.
 */
export class BackwardWriter {
  private bytes = Buffer.allocUnsafeSlow(firstBytes);
  private at = firstBytes;

  /** The number of bytes written. */
  get length(): number {
    return this.bytes.length - this.at;
  }

  /** A copy of what was written; the writer is empty afterwards. */
  finish(): Buffer {
    const written = Buffer.allocUnsafe(this.length);
    this.bytes.copy(written, 0, this.at);
    this.clear();
    return written;
  }

  /** Forgets what was written. */
  clear(): void {
    if (this.bytes.length > mostKept) this.bytes = Buffer.allocUnsafeSlow(firstBytes);
    this.at = this.bytes.length;
  }

  /** An integer from 0 to 2^32 - 1: a tag or a length. */
  uint32(value: number): void {
    if (this.at < 5) this.grow(5);
    const { bytes } = this;
    if (value < 0x80) {
      bytes[--this.at] = value;
      return;
    }
    let at = this.at - lengthOf(value);
    this.at = at;
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
    bytes[at] = rest;
  }

  /** A varint of 64 bits; negative numbers as two's complement. `value` is a whole number. */
  int64(value: number): void {
    if (value >= 0 && value <= 0xffffffff) this.uint32(value);
    else this.bigint(BigInt(value));
  }

  /** {@link int64} for any number of 64 bits. */
  bigint(value: bigint): void {
    const groups: number[] = [];
    let rest = BigInt.asUintN(64, value);
    for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push(Number(rest));
    if (this.at < groups.length) this.grow(groups.length);
    this.at -= groups.length;
    this.bytes.set(groups, this.at);
  }

  bool(value: boolean): void {
    if (this.at < 1) this.grow(1);
    this.bytes[--this.at] = value ? 1 : 0;
  }

  double(value: number): void {
    if (this.at < 8) this.grow(8);
    this.at -= 8;
    this.bytes.writeDoubleLE(value, this.at);
  }

  /** Bytes after their length. */
  data(data: Uint8Array): void {
    if (this.at < data.length) this.grow(data.length);
    this.at -= data.length;
    this.bytes.set(data, this.at);
    this.uint32(data.length);
  }

  /** UTF-8 after its length; halves of surrogate pairs become U+FFFD. */
  string(text: string): void {
    const { length } = text;
    if (length > shortText || !this.ascii(text)) {
      const byteLength = Buffer.byteLength(text);
      if (this.at < byteLength) this.grow(byteLength);
      this.at -= byteLength;
      if (byteLength === length) this.bytes.write(text, this.at, length, 'latin1');
      else this.bytes.write(text, this.at, byteLength, 'utf8');
      this.uint32(byteLength);
    } else this.uint32(length);
  }

  /** Writes a short text if it is ASCII; returns false, and writes nothing, if it is not. */
  private ascii(text: string): boolean {
    const { length } = text;
    if (this.at < length) this.grow(length);
    const { bytes } = this;
    const start = this.at - length;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) return false;
      bytes[start + i] = code;
    }
    this.at = start;
    return true;
  }

  private grow(more: number): void {
    const { length } = this;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, length + more));
    const at = larger.length - length;
    this.bytes.copy(larger, at, this.at);
    this.bytes = larger;
    this.at = at;
  }
}

/** How many bytes a number below 2^32 takes as a varint. */
function lengthOf(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}
