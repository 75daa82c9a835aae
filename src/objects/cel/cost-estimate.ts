/** The smallest and the largest cost or size of something. The largest is infinite if nothing bounds it. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

export const noCost: Range = Object.freeze({ min: 0, max: 0 });
export const one: Range = Object.freeze({ min: 1, max: 1 });
export const unbounded: Range = Object.freeze({ min: 0, max: Number.POSITIVE_INFINITY });

export function exactly(value: number): Range {
  return { min: value, max: value };
}

export function sum(...ranges: readonly Range[]): Range {
  let min = 0;
  let max = 0;
  for (const range of ranges) {
    min += range.min;
    max += range.max;
  }
  return { min, max };
}

export function product(a: Range, b: Range): Range {
  // Zero times infinity is zero here: a list without elements costs nothing, whatever an element would cost.
  return { min: a.min * b.min, max: a.max === 0 || b.max === 0 ? 0 : a.max * b.max };
}

/** The cost of reading `size` characters or elements at `each` units, rounded to whole units. */
export function traversal(size: Range, each: number): Range {
  return { min: Math.ceil(size.min * each), max: Math.ceil(size.max * each) };
}

/** The range that covers either one. */
export function either(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
