/** First code unit whose order among UTF-16 units and among UTF-8 bytes can differ. */
const FIRST_SURROGATE = 0xd800;

/**
 * Compares two well-formed strings by their UTF-8 bytes (`COLLATE "C"`), which is the order of code points. UTF-16
 * units differ from that order only where a surrogate meets a unit above all surrogates.
 */
export function compareBytewise(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= FIRST_SURROGATE && y >= FIRST_SURROGATE) {
      const isSurrogateX = x < 0xe000;
      if (isSurrogateX !== y < 0xe000) return isSurrogateX ? 1 : -1;
    }
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}
