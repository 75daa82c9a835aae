import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import { parseExactJson, stringifyNoting } from '../json/exact-numbers.js';
import { memoryLimits } from '../memory-limits.js';
import { type FilePlace, OverflowFile } from './overflow-file.js';

const deflate = promisify(deflateRaw);
/** The fastest level suffices: the repetitive text compresses well anyway. */
const level = { level: 1 };
/** Text above this size is compressed in another thread. */
const mostAtOnce = 64 * 1024;
/**
 * The share of the heap for recently read values, measured by their text: the parsed values take several times as much.
 */
const recentPart = 1 / 128;

/** The share of the memory outside the heap that the parts may use, and the minimum in bytes. */
const partOfRest = 1 / 4;
const leastBudget = 32 * 1024 * 1024;
/** How long to wait before the file is tried again after its disk was full. */
const retryMs = 60_000;

/** One part of an object: its text, compressed, outside of the heap. Equal parts of all objects share one instance. */
export class PackedPart {
  constructor(
    private readonly parts: PackedParts,
    /** The compressed text, or its place in the file. */
    private readonly content: Buffer | FilePlace,
    /** Characters of the text. */
    readonly size: number,
    private readonly isExact: boolean,
  ) {}

  /** The parsed value of the text. All readers share it, so it must not be changed. */
  get value(): unknown {
    return this.parts.recent(this, () => {
      const text = inflateRawSync(this.parts.bytesOf(this.content)).toString('utf8');
      return this.isExact ? parseExactJson(text) : (JSON.parse(text) as unknown);
    });
  }
}

/** What to clean up when a part is no longer referenced. */
interface Left {
  readonly digest: string;
  readonly content: number | FilePlace;
}

/** Bytes of the parts in memory and in the file. */
export interface PackedUsage {
  readonly memory: number;
  readonly file: number;
  /** The most memory that the parts may use, in bytes. */
  readonly budget: number;
}

/**
 * Keeps large parts of objects as compressed text, each once, for as long as an object references them. Parts above the
 * memory budget are written to a file and read from it, slowly, on each access.
 */
export class PackedParts {
  private readonly known = new Map<string, WeakRef<PackedPart>>();
  private readonly gone = new FinalizationRegistry<Left>(({ digest, content }) => {
    if (typeof content === 'number') this.held -= content;
    else {
      this.inFile -= content.size;
      this.file?.release(content);
    }
    if (this.known.get(digest)?.deref() === undefined) this.known.delete(digest);
  });
  private file: OverflowFile | undefined;
  /** When the file may be tried again after it could not be opened or its disk was full. */
  private fileFrom = 0;
  private inFile = 0;
  private onOverflow: (problem: unknown) => void = () => undefined;
  /** Recently read values, the most recently read one last. */
  private readonly values = new Map<PackedPart, unknown>();
  private valuesSize = 0;
  private held = 0;

  /**
   * @param mostRecent characters of the text whose values may be kept
   * @param budget bytes of compressed text in memory
   * @param folder where the file for more is made. Default: the folder for temporary files
   * @param now milliseconds from a fixed point
   */
  constructor(
    private readonly mostRecent = getHeapStatistics().heap_size_limit * recentPart,
    private readonly budget = usualBudget(),
    private readonly folder?: string,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get usage(): PackedUsage {
    return { memory: this.held, file: this.inFile, budget: this.budget };
  }

  /**
   * Calls `report` when the budget is used up for the first time, and with the error when the remaining parts can't be
   * written to a file. They then stay in memory, and the file is tried again after a minute, when its disk may have
   * room again.
   */
  reportOverflow(report: (problem: unknown) => void): void {
    this.onOverflow = report;
  }

  /** The compressed text of a part. */
  bytesOf(content: Buffer | FilePlace): Uint8Array {
    return content instanceof Uint8Array ? content : (this.file as OverflowFile).read(content);
  }

  /** The part for a value. Returns a promise for a large one, which is compressed in another thread. */
  pack(value: unknown): PackedPart | Promise<PackedPart> {
    const { text, hasExactNumbers } = stringifyNoting(value);
    const digest = createHash('sha256').update(text).digest('base64');
    const found = this.known.get(digest)?.deref();
    if (found !== undefined) return found;
    const keep = (bytes: Buffer) =>
      this.keep(digest, bytes, (content) => new PackedPart(this, content, text.length, hasExactNumbers));
    return text.length > mostAtOnce ? deflate(text, level).then(keep) : keep(deflateRawSync(text, level));
  }

  /** The cached value of a part, or a newly made one. */
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

  private keep(digest: string, bytes: Buffer, make: (content: Buffer | FilePlace) => PackedPart): PackedPart {
    // An equal part may have been compressed at the same time.
    const found = this.known.get(digest)?.deref();
    if (found !== undefined) return found;
    const place = this.held + bytes.length > this.budget ? this.written(bytes) : undefined;
    const part = make(place ?? ownBytes(bytes));
    if (place === undefined) this.held += bytes.length;
    else this.inFile += place.size;
    this.known.set(digest, new WeakRef(part));
    this.gone.register(part, { digest, content: place ?? bytes.length });
    return part;
  }

  /** Writes to the file; undefined when that is not possible. */
  private written(bytes: Buffer): FilePlace | undefined {
    if (this.now() < this.fileFrom) return undefined;
    try {
      if (this.file === undefined) {
        this.file = new OverflowFile(this.folder);
        this.onOverflow(undefined);
      }
      return this.file.write(bytes);
    } catch (problem) {
      this.fileFrom = this.now() + retryMs;
      this.onOverflow(problem);
      return undefined;
    }
  }
}

function usualBudget(): number {
  const { heap, machine } = memoryLimits();
  return Math.max(leastBudget, (machine - heap) * partOfRest);
}

/** A copy without the compressor's spare capacity. */
export function ownBytes(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
