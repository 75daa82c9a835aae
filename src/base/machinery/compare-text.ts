/** Order of two strings by their UTF-16 units, like that of `<`. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
