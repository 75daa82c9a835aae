import { isUtf8 } from 'node:buffer';
import { ExactNumber } from '../json/exact-numbers.js';
import { maxDepth } from '../json/nesting.js';
import { NestingError } from '../json/nesting-error.js';
import { CborError } from './cbor-error.js';
import { breakByte, Info, Major, Tag } from './initial-byte.js';
import { epochTimeText, taggedTimeText } from './time-tag.js';

export { CborError } from './cbor-error.js';

const maxInt64 = 2n ** 63n - 1n;
/** Strings up to this length are read byte by byte, which is faster than a call. */
const shortString = 24;
/** The most characters of a key that a message shows. */
const shownKey = 64;
/** From this value on, a double is written with an exponent, so it is never mistaken for a whole number. */
const exponentFrom = 1e21;

/**
 * Reads one item of CBOR (RFC 8949) as the value that JSON with the same content would give: byte strings are strings,
 * or base64 after the tag for it. Numbers keep what distinguishes them: see `ExactNumber`.
 *
 * Refused, with a {@link CborError}: anything after the item, equal keys, keys that are not strings, invalid UTF-8,
 * whole numbers that exceed a signed 64-bit integer, NaN, infinities, and values that JSON does not have.
 *
 * @throws NestingError for items that are nested more deeply than any object may be
 */
export function decodeCbor(bytes: Buffer): unknown {
  const reader = new CborReader(bytes);
  const value = reader.item(0);
  reader.end();
  return value;
}

class CborReader {
  private at = 0;
  private readonly length: number;
  /** Byte strings are shown in base64, since an enclosing tag requires it. */
  private isBase64 = false;
  /** The buffer in which strings are assembled, made on first use: none is longer than all bytes. */
  private scratch: Buffer | undefined;
  /** How many tags for times were read. */
  private times = 0;

  constructor(private readonly bytes: Buffer) {
    this.length = bytes.length;
  }

  end(): void {
    const left = this.length - this.at;
    if (left > 0) throw new CborError(`${left} bytes of extraneous data starting at index ${this.at}`);
  }

  item(depth: number): unknown {
    const first = this.byte();
    const info = first & 0x1f;
    switch ((first >> 5) as Major) {
      case Major.unsigned:
        return checkInt64(this.argument(info));
      case Major.negative: {
        const value = this.argument(info);
        checkInt64(value);
        return typeof value === 'bigint' || value >= Number.MAX_SAFE_INTEGER
          ? fitting(-1n - BigInt(value))
          : -1 - value;
      }
      case Major.bytes:
        return info === Info.indefinite ? this.chunks(Major.bytes) : this.byteString(this.size(info));
      case Major.text:
        return info === Info.indefinite ? this.chunks(Major.text) : this.text(this.size(info));
      case Major.array:
        return this.array(info, depth + 1);
      case Major.map:
        return this.map(info, depth + 1);
      case Major.tag:
        return this.tagged(this.argument(info), depth + 1);
      case Major.simple:
        return this.simple(info);
    }
  }

  private byte(): number {
    if (this.at >= this.length) throw endsEarly();
    return this.bytes[this.at++] as number;
  }

  /** The number that a head contains, such as a value or a length. */
  private argument(info: number): number | bigint {
    if (info < Info.oneByte) return info;
    const { at } = this;
    switch (info) {
      case Info.oneByte:
        return this.byte();
      case Info.twoBytes:
        this.skip(2);
        return this.bytes.readUInt16BE(at);
      case Info.fourBytes:
        this.skip(4);
        return this.bytes.readUInt32BE(at);
      case Info.eightBytes: {
        this.skip(8);
        const value = this.bytes.readUInt32BE(at) * 2 ** 32 + this.bytes.readUInt32BE(at + 4);
        return Number.isSafeInteger(value) ? value : this.bytes.readBigUInt64BE(at);
      }
    }
    throw new CborError(`invalid additional information ${info} at index ${at - 1}`);
  }

  private skip(length: number): void {
    if (length > this.length - this.at) throw endsEarly();
    this.at += length;
  }

  /** The length of a string, list or map from its head; each byte or item takes at least one byte of the input. */
  private size(info: number): number {
    const count = this.argument(info);
    if (count > this.length - this.at) throw endsEarly();
    return count as number;
  }

  private byteString(length: number): string {
    if (!this.isBase64) return this.text(length);
    const start = this.at;
    this.skip(length);
    return this.bytes.toString('base64', start, this.at);
  }

  private text(length: number): string {
    const { bytes, at: start } = this;
    this.skip(length);
    const end = this.at;
    if (length <= shortString) {
      let text = '';
      for (let i = start; i < end; i++) {
        const byte = bytes[i] as number;
        if (byte >= 0x80) return this.utf8(start, end);
        text += String.fromCharCode(byte);
      }
      return text;
    }
    return this.utf8(start, end);
  }

  private utf8(start: number, end: number): string {
    if (!isUtf8(this.bytes.subarray(start, end))) throw new CborError(`invalid UTF-8 string at index ${start}`);
    return this.bytes.toString('utf8', start, end);
  }

  /**
   * A string of indefinite length: a sequence of complete strings of the same type. There may be very many, of few
   * bytes each.
   */
  private chunks(major: typeof Major.bytes | typeof Major.text): string {
    const starts = this.at;
    this.scratch ??= Buffer.allocUnsafe(this.length);
    const whole = this.scratch;
    let used = 0;
    for (let first = this.byte(); first !== breakByte; first = this.byte()) {
      const info = first & 0x1f;
      if (first >> 5 !== major || info === Info.indefinite) {
        throw new CborError(`wrong part of a string of indefinite length at index ${this.at - 1}`);
      }
      const start = this.at;
      this.skip(this.size(info));
      if (major === Major.text && !this.isText(start, this.at)) {
        throw new CborError(`invalid UTF-8 string at index ${start}`);
      }
      used += this.bytes.copy(whole, used, start, this.at);
    }
    const content = whole.subarray(0, used);
    if (major === Major.bytes && this.isBase64) return content.toString('base64');
    if (!isUtf8(content)) throw new CborError(`invalid UTF-8 string at index ${starts}`);
    return content.toString('utf8');
  }

  private isText(start: number, end: number): boolean {
    if (end - start > shortString) return isUtf8(this.bytes.subarray(start, end));
    for (let i = start; i < end; i++) {
      if ((this.bytes[i] as number) >= 0x80) return isUtf8(this.bytes.subarray(start, end));
    }
    return true;
  }

  private array(info: number, depth: number): unknown[] {
    if (depth > maxDepth) throw new NestingError();
    const items: unknown[] = [];
    if (info === Info.indefinite) while (!this.takesBreak()) items.push(this.item(depth));
    else for (let left = this.size(info); left > 0; left--) items.push(this.item(depth));
    return items;
  }

  private map(info: number, depth: number): Record<string, unknown> {
    if (depth > maxDepth) throw new NestingError();
    const members: Record<string, unknown> = {};
    if (info === Info.indefinite) while (!this.takesBreak()) this.member(members, depth);
    else for (let left = this.size(info); left > 0; left--) this.member(members, depth);
    return members;
  }

  private takesBreak(): boolean {
    if (this.at >= this.length) throw endsEarly();
    if (this.bytes[this.at] !== breakByte) return false;
    this.at++;
    return true;
  }

  private member(members: Record<string, unknown>, depth: number): void {
    const { at: start, times } = this;
    const key = this.item(depth);
    if (typeof key !== 'string' || this.times !== times)
      throw new CborError(`the key of a map at index ${start} is not a string`);
    if (Object.hasOwn(members, key))
      throw new CborError(`found duplicate map key ${JSON.stringify(key.slice(0, shownKey))}`);
    const value = this.item(depth);
    if (key !== '__proto__') members[key] = value;
    else Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
  }

  private tagged(tag: number | bigint, depth: number): unknown {
    if (depth > maxDepth) throw new NestingError();
    switch (tag) {
      case Tag.timeText:
        this.times++;
        if (this.nextMajor() !== Major.text) throw new CborError('tag number 0 must be followed by a text string');
        return taggedTimeText(this.item(depth) as string);
      case Tag.epochTime: {
        this.times++;
        const value = this.nextMajor() === Major.tag ? undefined : this.item(depth);
        if (typeof value === 'number' || typeof value === 'bigint') return epochTimeText(value);
        if (value instanceof ExactNumber) return epochTimeText(value.valueOf());
        throw new CborError('tag number 1 must be followed by a number');
      }
      case Tag.unsignedBignum:
      case Tag.negativeBignum:
        throw new CborError('numbers of arbitrary size (bignum) are not accepted');
      case Tag.laterBase64Url:
      case Tag.laterBase16:
        // As plain text it would be mistaken for base64, the form of byte fields in JSON.
        throw new CborError(`tag number ${tag} is not accepted`);
      case Tag.laterBase64: {
        const outer = this.isBase64;
        this.isBase64 = true;
        const value = this.item(depth);
        this.isBase64 = outer;
        return value;
      }
    }
    return this.item(depth);
  }

  private nextMajor(): number {
    if (this.at >= this.length) throw endsEarly();
    return (this.bytes[this.at] as number) >> 5;
  }

  private simple(info: number): unknown {
    const { at } = this;
    switch (info) {
      case Info.false:
        return false;
      case Info.true:
        return true;
      case Info.null:
        return null;
      case Info.twoBytes:
        this.skip(2);
        return floating(halfFloat(this.bytes.readUInt16BE(at)));
      case Info.fourBytes:
        this.skip(4);
        return floating(this.bytes.readFloatBE(at));
      case Info.eightBytes:
        this.skip(8);
        return floating(this.bytes.readDoubleBE(at));
      case Info.indefinite:
        throw new CborError('unexpected "break" code');
    }
    const value = info === Info.oneByte ? this.byte() : info;
    throw new CborError(`simple value ${value} is not recognized`);
  }
}

function endsEarly(): CborError {
  return new CborError('unexpected EOF');
}

function checkInt64(value: number | bigint): number | bigint {
  if (typeof value === 'bigint' && value > maxInt64)
    throw new CborError('a whole number overflows 64 bits with a sign');
  return value;
}

function fitting(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A floating-point number. A whole number keeps its decimal point, which distinguishes it from an integer. */
function floating(value: number): unknown {
  if (!Number.isFinite(value)) throw new CborError('floating-point NaN and infinity are not accepted');
  if (Object.is(value, -0)) return new ExactNumber('-0.0');
  return Number.isInteger(value) && Math.abs(value) < exponentFrom ? new ExactNumber(`${value}.0`) : value;
}

function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (0x400 + fraction) * 2 ** (exponent - 25);
}
