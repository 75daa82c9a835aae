/** A value at a time, in milliseconds since 1970; undefined where it is not known. */
export type ChartPoint = readonly [time: number, value: number | undefined];

/**
 * The next round number above a value: 1, 2 or 5 with zeros.
 *
 * @param isBinary for bytes: a round number of KiB, MiB and so on
 */
export function roundAbove(value: number, isBinary = false): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const unit = isBinary ? 1024 ** Math.floor(Math.log2(value) / 10) : 1;
  const power = 10 ** Math.floor(Math.log10(value / unit)) * unit;
  const step = [1, 2, 5, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}

/** A limit far above all that is measured is named, but not drawn: the measured values would not rise above zero. */
export function isInSight(limit: number, measured: number): boolean {
  return limit <= measured * 4;
}

/**
 * The lines through points on an area of the given size, as the `d` of a path. A line ends where nothing was measured
 * for longer than `gapMs`.
 */
export function linePath(
  points: readonly ChartPoint[],
  {
    from,
    to,
    most,
    width,
    height,
    gapMs,
  }: Readonly<Record<'from' | 'to' | 'most' | 'width' | 'height' | 'gapMs', number>>,
): string {
  const parts: string[] = [];
  let before: number | undefined;
  for (const [time, value] of points) {
    if (value === undefined || !Number.isFinite(value) || time < from) continue;
    const x = ((time - from) / Math.max(1, to - from)) * width;
    const y = height - (Math.max(0, Math.min(value, most)) / most) * height;
    const isNew = before === undefined || time - before > gapMs;
    parts.push(`${isNew ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`);
    before = time;
  }
  // A single point is a line of no length, which round ends make visible.
  return parts.length === 1 ? `${parts[0]}h0` : parts.join('');
}

/** The last value that is known. */
export function lastValue(points: readonly ChartPoint[]): number | undefined {
  return points.findLast(([, value]) => value !== undefined)?.[1];
}

/** The value nearest to a time. */
export function valueAt(points: readonly ChartPoint[], time: number): ChartPoint | undefined {
  let found: ChartPoint | undefined;
  for (const point of points) {
    if (point[1] === undefined) continue;
    if (found === undefined || Math.abs(point[0] - time) < Math.abs(found[0] - time)) found = point;
  }
  return found;
}
