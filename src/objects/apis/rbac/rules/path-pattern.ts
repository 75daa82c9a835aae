const asterisk = 0x2a;

/** What stands before the asterisks at the end of a path in a rule; the path itself when it ends with none. */
export function pathPrefix(path: string): string {
  let end = path.length;
  // Not with an expression: one that looks for the end tries anew at each asterisk of the path.
  while (end > 0 && path.charCodeAt(end - 1) === asterisk) end--;
  return path.slice(0, end);
}
