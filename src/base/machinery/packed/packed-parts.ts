import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import { parseExactJson, stringifyNoting } from '../json/exact-numbers.js';

const deflate = promisify(deflateRaw);
/** The fastest: texts of many equal words become small anyway. */
const level = { level: 1 };
/** Text above this size is compressed in another thread. */
const mostAtOnce = 64 * 1024;
/** How much of the heap the values may take that were read lately, as text: what is made of it takes some times as much. */
const recentPart = 1 / 128;

/** One part of an object: its text, compressed, outside of the heap. Equal parts of all objects are one. */
export class PackedPart {
  constructor(
    private readonly parts: PackedParts,
    private readonly bytes: Buffer,
    /** Characters of the text. */
    readonly size: number,
    private readonly isExact: boolean,
  ) {}

  /** Bytes that the part takes. */
  get packedSize(): number {
    return this.bytes.length;
  }

  /** What the text says. Shared by all who read it: nobody may change it. */
  get value(): unknown {
    return this.parts.recent(this, () => {
      const text = inflateRawSync(this.bytes).toString('utf8');
      return this.isExact ? parseExactJson(text) : (JSON.parse(text) as unknown);
    });
  }
}

/** Keeps large parts of objects as compressed text, each once, for as long as an object has them. */
export class PackedParts {
  private readonly known = new Map<string, WeakRef<PackedPart>>();
  private readonly gone = new FinalizationRegistry<{ readonly digest: string; readonly bytes: number }>(
    ({ digest, bytes }) => {
      this.held -= bytes;
      if (this.known.get(digest)?.deref() === undefined) this.known.delete(digest);
    },
  );
  /** What was read lately, the latest last. */
  private readonly values = new Map<PackedPart, unknown>();
  private valuesSize = 0;
  private held = 0;

  /** @param mostRecent characters of the text whose values may be kept */
  constructor(private readonly mostRecent = getHeapStatistics().heap_size_limit * recentPart) {}

  /** Bytes of all parts. */
  get bytes(): number {
    return this.held;
  }

  /** The part that says what the value says. A promise for a large one, which is compressed in another thread. */
  pack(value: unknown): PackedPart | Promise<PackedPart> {
    const { text, hasExactNumbers } = stringifyNoting(value);
    const digest = createHash('sha256').update(text).digest('base64');
    const found = this.known.get(digest)?.deref();
    if (found !== undefined) return found;
    const keep = (bytes: Buffer) =>
      this.keep(digest, new PackedPart(this, ownBytes(bytes), text.length, hasExactNumbers));
    return text.length > mostAtOnce ? deflate(text, level).then(keep) : keep(deflateRawSync(text, level));
  }

  /** The value of a part, made if it was not read lately. */
  recent(part: PackedPart, make: () => unknown): unknown {
    const isKnown = this.values.has(part);
    const value = isKnown ? this.values.get(part) : make();
    this.values.delete(part);
    this.values.set(part, value);
    if (isKnown) return value;
    this.valuesSize += part.size;
    for (const oldest of this.values.keys()) {
      if (this.valuesSize <= this.mostRecent) break;
      this.values.delete(oldest);
      this.valuesSize -= oldest.size;
    }
    return value;
  }

  private keep(digest: string, part: PackedPart): PackedPart {
    const bytes = part.packedSize;
    this.held += bytes;
    this.known.set(digest, new WeakRef(part));
    this.gone.register(part, { digest, bytes });
    return part;
  }
}

/** A copy without the room that the compressor had for more. */
export function ownBytes(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
