/** The indexes from `first` to `last`, both included. */
export interface IndexRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The ranges of a string such as `1,3-5`, in rising order, or the fault in it as clients know it. Indexes are smaller
 * than `completions`.
 */
export function parseIndexes(text: string, completions: number): readonly IndexRange[] | string {
  const ranges: IndexRange[] = [];
  if (text === '') return ranges;
  let previous = -1;
  for (const part of text.split(',')) {
    const ends = part.split('-');
    if (ends.length > 2) {
      const rule = "violates the requirement that an index interval can have at most two parts separated by '-'";
      return `the fragment ${JSON.stringify(part)} ${rule}`;
    }
    const wrong = ends.find((end) => !/^\+?\d{1,18}$/.test(end));
    if (wrong !== undefined) return `cannot convert string to integer for index: ${JSON.stringify(wrong)}`;
    const large = ends.find((end) => Number(end) >= completions);
    if (large !== undefined) return `too large index: ${JSON.stringify(large)}`;
    const first = Number(ends[0]);
    const last = Number(ends[1] ?? ends[0]);
    const order = (before: number, now: number) => `non-increasing order, previous: ${before}, current: ${now}`;
    if (first <= previous) return order(previous, first);
    if (last < first || (ends.length === 2 && last === first)) return order(first, last);
    ranges.push({ first, last });
    previous = last;
  }
  return ranges;
}

/** The lowest index that both lists of ranges have. */
export function commonIndex(some: readonly IndexRange[], others: readonly IndexRange[]): number | undefined {
  for (let i = 0, k = 0; i < some.length && k < others.length; ) {
    const [a, b] = [some[i] as IndexRange, others[k] as IndexRange];
    const start = Math.max(a.first, b.first);
    if (start <= Math.min(a.last, b.last)) return start;
    if (a.last < b.last) i++;
    else k++;
  }
  return undefined;
}
