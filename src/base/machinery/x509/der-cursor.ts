import { Asn1Error } from './asn1-error.js';

/** One DER value: its tag byte and its place in the bytes. */
export interface DerValue {
  /** The whole tag byte: class, constructed bit and number. */
  readonly tag: number;
  /** Where the value begins, with its tag. */
  readonly start: number;
  /** Where its content begins. */
  readonly content: number;
  readonly end: number;
}

/**
 * Steps over the values of a constructed value without building a tree, for documents with many thousand values.
 * Lengths must have their shortest form.
 */
export class DerCursor {
  private at: number;

  constructor(
    readonly bytes: Buffer,
    start = 0,
    private readonly end: number = bytes.length,
  ) {
    this.at = start;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** The tag of the next value; undefined at the end. */
  get nextTag(): number | undefined {
    return this.isAtEnd ? undefined : this.bytes[this.at];
  }

  /** The next value. @throws Asn1Error when there is none, or one of another tag than `tag`. */
  next(tag?: number): DerValue {
    const { bytes, at: start, end } = this;
    const found = bytes[start];
    if (start + 2 > end || found === undefined) throw new Asn1Error('asn1: structure error: parts are missing');
    if (tag !== undefined && found !== tag) throw new Asn1Error('asn1: structure error: a value of another type');
    if ((found & 0x1f) === 0x1f) throw new Asn1Error('asn1: structure error: a tag of more than one byte');
    let length = bytes[start + 1] as number;
    let content = start + 2;
    if (length >= 0x80) {
      const size = length & 0x7f;
      if (size === 0 || size > 4 || content + size > end) throw new Asn1Error('asn1: structure error: a bad length');
      length = bytes.readUIntBE(content, size);
      content += size;
      const isShortest = length >= 0x80 && (size === 1 || length >= 2 ** (8 * (size - 1)));
      if (!isShortest) throw new Asn1Error('asn1: structure error: a length that is not in its shortest form');
    }
    if (content + length > end) throw new Asn1Error('asn1: structure error: parts are missing');
    this.at = content + length;
    return { tag: found, start, content, end: this.at };
  }

  /** The next value if it has this tag. */
  nextIf(tag: number): DerValue | undefined {
    return this.nextTag === tag ? this.next(tag) : undefined;
  }

  /** A cursor over the values inside a value. */
  inside({ content, end }: DerValue): DerCursor {
    return new DerCursor(this.bytes, content, end);
  }

  contentOf({ content, end }: DerValue): Buffer {
    return this.bytes.subarray(content, end);
  }

  /** The bytes of a value with its tag and length. */
  wholeOf({ start, end }: DerValue): Buffer {
    return this.bytes.subarray(start, end);
  }

  /** @throws Asn1Error unless everything was read. */
  done(): void {
    if (!this.isAtEnd) throw new Asn1Error('asn1: syntax error: trailing data');
  }
}
