const asterisk = 0x2a;

/** The path of a rule without the asterisks at its end; the path itself when it ends with none. */
export function pathPrefix(path: string): string {
  let end = path.length;
  // A regular expression would be slow: its match at the end would restart at each asterisk of the path.
  while (end > 0 && path.charCodeAt(end - 1) === asterisk) end--;
  return path.slice(0, end);
}
