/** A histogram with buckets whose width grows with their values, as scrapes in protobuf show it. */
export interface NativeHistogram {
  /** Buckets end at powers of 2^(2^-schema). */
  readonly schema: number;
  /** Observations that are no larger than {@link zeroThreshold}. */
  readonly zeroCount: number;
  /** The observations of each bucket by its number, ascending: bucket n ends at 2^(n * 2^-schema). */
  readonly buckets: readonly (readonly [index: number, count: number])[];
}

/** What counts as zero. */
export const zeroThreshold = 2 ** -128;

/** Each bucket is at most a tenth wider than the one before. */
const finestSchema = 3;
const coarsestSchema = -4;
/** With more, pairs of buckets become one. */
const mostBuckets = 160;

/** Counts observations in buckets that exist as they are needed. */
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

  /** What was observed until now. */
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
