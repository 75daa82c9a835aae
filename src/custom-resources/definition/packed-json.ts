import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Shorter texts are not worth compressing. */
const packedFrom = 512;

/**
 * A JSON value that is rarely needed, in little memory: schemas take a tenth of their text, and a fiftieth of what they take
 * as values.
 */
export class PackedJson<T> {
  private readonly packed: string | Buffer;

  constructor(value: T) {
    const text = JSON.stringify(value);
    this.packed = text.length < packedFrom ? text : deflateRawSync(text, { level: 3 });
  }

  /** A fresh copy of the value. */
  unpack(): T {
    const { packed } = this;
    return JSON.parse(typeof packed === 'string' ? packed : inflateRawSync(packed).toString()) as T;
  }
}
