/**
 * How many names at the start of a range are reserved for clients that request a particular name: a part that grows
 * with the range, up to `most`, and none in a tiny range.
 */
export function keptPart(size: number, divisor: number, most: number): number {
  return size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / divisor)), most, size - 1);
}
