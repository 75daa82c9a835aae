/** A native histogram, as in protobuf scrapes: the width of its buckets grows with their values. */
export interface NativeHistogram {
  /** The resolution: upper bounds of buckets are powers of 2^(2^-schema). */
  readonly schema: number;
  /** The number of observations that are at most {@link zeroThreshold}. */
  readonly zeroCount: number;
  /** The count of each bucket by its number, ascending: the upper bound of bucket n is 2^(n * 2^-schema). */
  readonly buckets: readonly (readonly [index: number, count: number])[];
}

/** Observations up to this value count as zero. */
export const zeroThreshold = 2 ** -128;

/** The finest resolution: each bucket is at most a tenth wider than the one before. */
const finestSchema = 3;
const coarsestSchema = -4;
/** Above this many buckets, pairs of buckets are merged. */
const mostBuckets = 160;

/** So many buckets are counted from the first on; the range grows with what is observed. */
const firstRange = 16;

/**
 * Counts observations in buckets that are created on first use. A request makes some fifty observations, so the counts
 * of neighbouring buckets are neighbours in an array: keys of a map cost more than all else here.
 */
export class NativeBuckets {
  private schema = finestSchema;
  /** Buckets per power of two, which follows from the schema. */
  private scale = 2 ** finestSchema;
  private zeroCount = 0;
  /** The counts of the buckets from number `first` on. */
  private counts: number[] = [];
  private first = 0;
  /** How many buckets have counted something. */
  private used = 0;

  /** @param value at least 0 */
  observe(value: number): void {
    if (value <= zeroThreshold) {
      this.zeroCount++;
      return;
    }
    const place = Math.ceil(Math.log2(value) * this.scale) - this.first;
    const count = this.counts[place];
    if (count === undefined) this.countBeyond(place + this.first);
    else {
      this.counts[place] = count + 1;
      if (count > 0) return;
      this.used++;
    }
    while (this.used > mostBuckets && this.schema > coarsestSchema) this.widen();
  }

  /** A snapshot of the observations so far. */
  shown(): NativeHistogram {
    return { schema: this.schema, zeroCount: this.zeroCount, buckets: this.entries() };
  }

  /** Counts an observation of a bucket outside of the range, which grows to have it in it, with some space around. */
  private countBeyond(index: number): void {
    const { counts, first } = this;
    if (counts.length === 0) {
      this.first = index - firstRange / 2;
      this.counts = new Array<number>(firstRange).fill(0);
    } else if (index < first) {
      this.first = index - firstRange / 2;
      this.counts = [...new Array<number>(first - this.first).fill(0), ...counts];
    } else {
      const space = new Array<number>(index - first - counts.length + firstRange / 2).fill(0);
      this.counts = [...counts, ...space];
    }
    this.counts[index - this.first] = 1;
    this.used++;
  }

  private widen(): void {
    const entries = this.entries();
    this.schema--;
    this.scale = 2 ** this.schema;
    const numbers = entries.map(([index]) => Math.ceil(index / 2));
    this.first = numbers[0] as number;
    this.counts = new Array<number>((numbers.at(-1) as number) - this.first + 1).fill(0);
    for (const [i, [, count]] of entries.entries()) {
      const place = (numbers[i] as number) - this.first;
      this.counts[place] = (this.counts[place] as number) + count;
    }
    this.used = this.counts.filter((count) => count > 0).length;
  }

  private entries(): [index: number, count: number][] {
    const entries: [number, number][] = [];
    for (const [place, count] of this.counts.entries()) if (count > 0) entries.push([place + this.first, count]);
    return entries;
  }
}
