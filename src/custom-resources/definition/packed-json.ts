import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Shorter texts are not worth compressing. */
const packedFrom = 512;

/**
 * A JSON value that is rarely needed, in little memory: schemas take a tenth of their text, and a fiftieth of what they take
 * as values.
 */
export class PackedJson<T> {
  private readonly packed: string | Buffer;
  private unpacked: WeakRef<T & object> | undefined;

  constructor(value: T) {
    const text = JSON.stringify(value);
    this.packed = text.length < packedFrom ? text : deflateRawSync(text, { level: 3 });
  }

  /** The value, which must not be changed: those who ask at about the same time get the same one. */
  unpack(): T {
    const known = this.unpacked?.deref();
    if (known !== undefined) return known;
    const { packed } = this;
    const value = JSON.parse(typeof packed === 'string' ? packed : inflateRawSync(packed).toString()) as T;
    if (typeof value === 'object' && value !== null) this.unpacked = new WeakRef(value);
    return value;
  }
}
