/**
 * How many names at the start of a range are kept for clients that ask for a certain one: a part that grows with the
 * range, up to `most`, and none of a tiny range.
 */
export function keptPart(size: number, divisor: number, most: number): number {
  return size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / divisor)), most, size - 1);
}
