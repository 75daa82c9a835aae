/** A version, and when it was the newest, in milliseconds since 1970. */
export interface VersionTime {
  readonly time: number;
  readonly version: number;
}

/**
 * How many writes there were in each of equal parts of a span of time. Between two known versions, writes are spread
 * evenly.
 *
 * @param times rising
 */
export function writesIn(times: readonly VersionTime[], from: number, to: number, parts: number): readonly number[] {
  const step = (to - from) / parts;
  const versions = Array.from({ length: parts + 1 }, (_, index) => versionAt(times, from + index * step));
  return versions.slice(1).map((version, index) => Math.max(0, version - (versions[index] ?? 0)));
}

function versionAt(times: readonly VersionTime[], time: number): number {
  const next = times.findIndex((each) => each.time > time);
  const before = times[next < 0 ? times.length - 1 : next - 1] ?? times[0];
  const after = times[next] ?? before;
  if (before === undefined || after === undefined) return 0;
  if (after.time <= before.time || time <= before.time) return before.version;
  return before.version + ((after.version - before.version) * (time - before.time)) / (after.time - before.time);
}
