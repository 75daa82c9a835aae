/** First and last index of a run, both included. */
type Run = readonly [first: number, last: number];

/**
 * A set of completion indexes, kept as runs, so that a job of 100,000 indexes costs little. Immutable. Its text is that
 * of `status.completedIndexes`: `1,3-5,7`.
 */
export class IndexSet {
  static readonly empty = new IndexSet([]);

  private constructor(private readonly runs: readonly Run[]) {}

  /** Makes a set of any indexes, in any order. */
  static of(indexes: Iterable<number>): IndexSet {
    const sorted = [...new Set(indexes)].sort((a, b) => a - b);
    return new IndexSet(joined(sorted.map((index) => [index, index])));
  }

  /** Reads the text form; indexes from `limit` on, and invalid parts, are left out. */
  static parse(text: string | undefined, limit = Number.POSITIVE_INFINITY): IndexSet {
    const runs: Run[] = [];
    for (const part of (text ?? '').split(',')) {
      const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part);
      if (match === null) continue;
      const first = Number(match[1]);
      const last = Math.min(Number(match[2] ?? match[1]), limit - 1);
      if (first <= last) runs.push([first, last]);
    }
    return new IndexSet(joined(runs.sort((a, b) => a[0] - b[0])));
  }

  get size(): number {
    return this.runs.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.runWith(index) !== undefined;
  }

  /** The first index from this one on that is not in the set. */
  firstFreeFrom(index: number): number {
    const run = this.runWith(index);
    // Adjacent runs are joined.
    return run === undefined ? index : run[1] + 1;
  }

  with(indexes: Iterable<number>): IndexSet {
    const added = IndexSet.of(indexes);
    if (added.runs.length === 0) return this;
    return new IndexSet(joined([...this.runs, ...added.runs].sort((a, b) => a[0] - b[0])));
  }

  /** The number of indexes in both sets. */
  countIn(other: IndexSet): number {
    let count = 0;
    let at = 0;
    for (const [first, last] of this.runs) {
      while (at < other.runs.length && (other.runs[at] as Run)[1] < first) at++;
      for (let i = at; i < other.runs.length; i++) {
        const [from, to] = other.runs[i] as Run;
        if (from > last) break;
        count += Math.min(last, to) - Math.max(first, from) + 1;
      }
    }
    return count;
  }

  toString(): string {
    return this.runs
      .map(([first, last]) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
      .join(',');
  }

  private runWith(index: number): Run | undefined {
    let low = 0;
    let high = this.runs.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const run = this.runs[middle] as Run;
      if (index < run[0]) high = middle - 1;
      else if (index > run[1]) low = middle + 1;
      else return run;
    }
    return undefined;
  }
}

/** Sorted runs, with adjacent or overlapping ones joined. */
function joined(runs: readonly Run[]): Run[] {
  const result: Run[] = [];
  for (const [first, last] of runs) {
    const previous = result.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) {
      result[result.length - 1] = [previous[0], Math.max(previous[1], last)];
    } else result.push([first, last]);
  }
  return result;
}
