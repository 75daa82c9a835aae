import { setImmediate } from 'node:timers/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { parseInTurns } from '../../../base/machinery/json/parse-in-turns.js';
import { stringifyInSteps } from '../../../base/machinery/json/stringify-in-steps.js';
import { atOnce, type Steps } from '../../../base/machinery/turns.js';

/** JSON with fewer characters than this is not worth compressing. */
const packedFrom = 512;
/** JSON with more characters than this takes noticeable time to unpack and process. */
const longFrom = 64 * 1024;
const compression = { level: 3 };

/**
 * Keeps a rarely needed JSON value in little memory: for schemas, a tenth of the memory of their JSON, and a fiftieth
 * of that of the parsed values.
 */
export class PackedJson<T> {
  private unpacked: WeakRef<T & object> | undefined;

  /**
   * @param parts of the text, each compressed by itself; a short text is not compressed
   * @param length of the text, in characters
   */
  private constructor(
    private readonly parts: string | Buffer | readonly Buffer[],
    private readonly length: number,
  ) {}

  /** @param onPiece receives the text, in pieces */
  static *pack<T>(value: T, onPiece: (text: string) => void = () => {}): Steps<PackedJson<T>> {
    const parts: Buffer[] = [];
    let first = '';
    let length = 0;
    yield* stringifyInSteps(value, (text) => {
      onPiece(text);
      length += text.length;
      if (length < packedFrom) first = text;
      else parts.push(deflateRawSync(text, compression));
    });
    if (parts.length === 0) return new PackedJson<T>(first, length);
    return new PackedJson<T>(parts.length === 1 ? (parts[0] as Buffer) : parts, length);
  }

  /** {@link pack} without pauses. */
  static of<T>(value: T): PackedJson<T> {
    return atOnce(PackedJson.pack(value));
  }

  /** Whether unpacking it, and processing the result, take noticeable time. */
  get isLong(): boolean {
    return this.length > longFrom;
  }

  /** The value, which must not be changed: concurrent callers get the same one. */
  unpack(): T {
    const known = this.unpacked?.deref();
    if (known !== undefined) return known;
    return this.keep(JSON.parse([...this.texts()].join('')) as T);
  }

  /** The value, unpacked in turns with other work. */
  async unpackInTurns(): Promise<T> {
    const known = this.unpacked?.deref();
    if (known !== undefined) return known;
    let text = '';
    for (const part of this.texts()) {
      text += part;
      await setImmediate();
    }
    return this.keep((await parseInTurns(text)) as T);
  }

  private *texts(): Generator<string, void, undefined> {
    const { parts } = this;
    if (typeof parts === 'string') yield parts;
    else for (const part of Buffer.isBuffer(parts) ? [parts] : parts) yield inflateRawSync(part).toString();
  }

  private keep(value: T): T {
    if (typeof value === 'object' && value !== null) this.unpacked = new WeakRef(value);
    return value;
  }
}
