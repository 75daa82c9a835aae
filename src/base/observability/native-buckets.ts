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

/** Counts observations in buckets that are created on first use. */
export class NativeBuckets {
  private schema = finestSchema;
  private zeroCount = 0;
  private counts = new Map<number, number>();

  /** @param value at least 0 */
  observe(value: number): void {
    if (value <= zeroThreshold) {
      this.zeroCount++;
      return;
    }
    const index = Math.ceil(Math.log2(value) * 2 ** this.schema);
    this.counts.set(index, (this.counts.get(index) ?? 0) + 1);
    while (this.counts.size > mostBuckets && this.schema > coarsestSchema) this.widen();
  }

  /** A snapshot of the observations so far. */
  shown(): NativeHistogram {
    const buckets = [...this.counts].sort(([a], [b]) => a - b);
    return { schema: this.schema, zeroCount: this.zeroCount, buckets };
  }

  private widen(): void {
    const wider = new Map<number, number>();
    for (const [index, count] of this.counts) {
      const at = Math.ceil(index / 2);
      wider.set(at, (wider.get(at) ?? 0) + count);
    }
    this.counts = wider;
    this.schema--;
  }
}
