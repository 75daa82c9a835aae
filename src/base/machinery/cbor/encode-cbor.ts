import { ExactNumber } from '../json/exact-numbers.js';
import { Info, Major, Tag } from './initial-byte.js';
import type { CborShape } from './shape.js';

/** The first bytes of everything that is sent: the tag that only marks the data as CBOR (RFC 8949 section 3.4.6). */
export const selfDescribed: Uint8Array = Uint8Array.of(0xd9, 0xd9, 0xf7);

const maxInt64 = 2n ** 63n - 1n;
/** The size of a head and the number that follows it. */
const headBytes = 9;
/** Strings up to this length are written byte by byte, which is faster than a call. */
const shortString = 64;
/** Spare capacity kept between calls, in bytes. */
const keptBytes = 64 * 1024;

/**
 * Encodes a value as one CBOR item, with the content that JSON.stringify would write: without undefined members.
 * Strings and keys are written as byte strings, as Kubernetes' own encoder does; strings that `shape` marks as base64
 * become the bytes they encode, after the tag for that.
 */
export function encodeCbor(value: unknown, shape?: CborShape): Buffer {
  try {
    writer.item(value, shape);
    return writer.taken();
  } finally {
    writer.reset();
  }
}

/** The head of an array or a map with `count` elements or members. */
export function encodeCborHead(major: 'array' | 'map', count: number): Buffer {
  try {
    writer.head(Major[major], count);
    return writer.taken();
  } finally {
    writer.reset();
  }
}

class CborWriter {
  private bytes = Buffer.allocUnsafeSlow(keptBytes);
  private at = 0;

  /** A copy of the bytes written so far. */
  taken(): Buffer {
    const taken = Buffer.allocUnsafe(this.at);
    this.bytes.copy(taken, 0, 0, this.at);
    return taken;
  }

  /** Discards the bytes written so far. */
  reset(): void {
    this.at = 0;
    if (this.bytes.length > keptBytes) this.bytes = Buffer.allocUnsafeSlow(keptBytes);
  }

  item(value: unknown, shape: CborShape | undefined): void {
    switch (typeof value) {
      case 'string':
        if (shape === 'bytes') this.base64(value);
        else this.text(value);
        return;
      case 'number':
        this.number(value);
        return;
      case 'boolean':
        this.simple(value ? Info.true : Info.false);
        return;
      case 'bigint':
        this.bigint(value);
        return;
      case 'object':
        if (value === null) this.simple(Info.null);
        else if (Array.isArray(value)) this.array(value, shape);
        else if (value instanceof ExactNumber) this.exactNumber(value);
        else this.map(value as Record<string, unknown>, shape);
        return;
      default:
        // JSON.stringify writes null as well for undefined elements of arrays.
        this.simple(Info.null);
    }
  }

  head(major: Major, argument: number): void {
    this.ensureCapacity(headBytes);
    const { bytes } = this;
    const first = major << 5;
    if (argument < Info.oneByte) bytes[this.at++] = first | argument;
    else if (argument < 0x100) {
      bytes[this.at++] = first | Info.oneByte;
      bytes[this.at++] = argument;
    } else if (argument < 0x10000) {
      bytes[this.at++] = first | Info.twoBytes;
      this.at = bytes.writeUInt16BE(argument, this.at);
    } else if (argument < 0x1_0000_0000) {
      bytes[this.at++] = first | Info.fourBytes;
      this.at = bytes.writeUInt32BE(argument, this.at);
    } else {
      bytes[this.at++] = first | Info.eightBytes;
      this.at = bytes.writeUInt32BE(Math.floor(argument / 0x1_0000_0000), this.at);
      this.at = bytes.writeUInt32BE(argument % 0x1_0000_0000, this.at);
    }
  }

  private ensureCapacity(length: number): void {
    const needed = this.at + length;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
  }

  private simple(info: number): void {
    this.ensureCapacity(1);
    this.bytes[this.at++] = (Major.simple << 5) | info;
  }

  private text(text: string): void {
    const { length } = text;
    if (length > shortString) {
      this.longText(text);
      return;
    }
    // Assumes that the text is ASCII, with one byte per character.
    const start = this.at;
    this.head(Major.bytes, length);
    this.ensureCapacity(length);
    const { bytes } = this;
    let { at } = this;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x80) {
        this.at = start;
        this.longText(text);
        return;
      }
      bytes[at++] = code;
    }
    this.at = at;
  }

  private longText(text: string): void {
    const length = Buffer.byteLength(text);
    this.head(Major.bytes, length);
    this.ensureCapacity(length);
    this.at += this.bytes.write(text, this.at, length, 'utf8');
  }

  private base64(text: string): void {
    const decoded = Buffer.from(text, 'base64');
    this.head(Major.tag, Tag.laterBase64);
    this.head(Major.bytes, decoded.length);
    this.ensureCapacity(decoded.length);
    decoded.copy(this.bytes, this.at);
    this.at += decoded.length;
  }

  private array(items: readonly unknown[], shape: CborShape | undefined): void {
    this.head(Major.array, items.length);
    for (const item of items) this.item(item, shape);
  }

  private map(members: Record<string, unknown>, shape: CborShape | undefined): void {
    const keys = Object.keys(members);
    let count = 0;
    for (const key of keys) if (members[key] !== undefined) count++;
    this.head(Major.map, count);
    for (const key of keys) {
      const value = members[key];
      if (value === undefined) continue;
      this.text(key);
      this.item(value, shape === undefined ? undefined : memberShape(shape, key));
    }
  }

  private number(value: number): void {
    if (Number.isSafeInteger(value)) this.integer(value);
    // JSON does not distinguish a float with a whole value from an integer.
    else if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63) this.bigint(BigInt(value));
    else if (Number.isFinite(value)) this.float(value);
    else this.simple(Info.null);
  }

  private integer(value: number): void {
    if (value >= 0) this.head(Major.unsigned, value);
    else this.head(Major.negative, -1 - value);
  }

  private bigint(value: bigint): void {
    if (value > maxInt64 || value < -1n - maxInt64) {
      this.float(Number(value));
      return;
    }
    const isNegative = value < 0n;
    this.ensureCapacity(headBytes);
    this.bytes[this.at++] = ((isNegative ? Major.negative : Major.unsigned) << 5) | Info.eightBytes;
    this.at = this.bytes.writeBigUInt64BE(isNegative ? -1n - value : value, this.at);
  }

  private exactNumber(value: ExactNumber): void {
    // A number without point and exponent is `-0`, or has too many digits for a 64-bit integer.
    if (value.text === '-0') this.integer(0);
    else this.float(value.valueOf());
  }

  /**
   * Writes the number in the fewest bytes that keep its value. A number too large for a double becomes the largest
   * double.
   */
  private float(value: number): void {
    const finite = Math.min(Math.max(value, -Number.MAX_VALUE), Number.MAX_VALUE);
    this.ensureCapacity(headBytes);
    const { bytes } = this;
    const half = Math.fround(finite) === finite ? halfBits(finite) : undefined;
    if (half !== undefined) {
      bytes[this.at++] = (Major.simple << 5) | Info.twoBytes;
      this.at = bytes.writeUInt16BE(half, this.at);
    } else if (Math.fround(finite) === finite) {
      bytes[this.at++] = (Major.simple << 5) | Info.fourBytes;
      this.at = bytes.writeFloatBE(finite, this.at);
    } else {
      bytes[this.at++] = (Major.simple << 5) | Info.eightBytes;
      this.at = bytes.writeDoubleBE(finite, this.at);
    }
  }
}

function memberShape(shape: CborShape, key: string): CborShape | undefined {
  if (shape === 'bytes') return undefined;
  return 'each' in shape ? shape.each : shape.fields.get(key);
}

/** The bits of a number as a half float; undefined when it needs more. */
function halfBits(value: number): number | undefined {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  if (size > 65_504) return undefined;
  if (size < 2 ** -14) {
    const steps = size * 2 ** 24;
    return Number.isInteger(steps) ? sign | steps : undefined;
  }
  const exponent = Math.floor(Math.log2(size));
  const fraction = (size / 2 ** exponent - 1) * 0x400;
  return Number.isInteger(fraction) ? sign | ((exponent + 15) << 10) | fraction : undefined;
}

const writer = new CborWriter();
