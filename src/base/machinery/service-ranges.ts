/** The texts of the ranges for Service addresses: one, or one of each IP family. The first is that of Services that ask for none. */
export function serviceRangesOf(text: string): readonly string[] {
  return text.split(',').map((range) => range.trim());
}
