/** The problem with patterns of origins; undefined when there is none. */
export function originsProblem(patterns: readonly string[]): string | undefined {
  for (const pattern of patterns) {
    try {
      new RegExp(pattern);
    } catch {
      return `${JSON.stringify(pattern)} is not a regular expression`;
    }
    // A pattern without anchors would also match longer names, which anyone can register.
    const isAnchored = /^(\^|\/\/)/.test(pattern) && /[$:]\)*$/.test(pattern);
    if (!isAnchored) return `${JSON.stringify(pattern)} must begin with ^ or // and end with $ or a port`;
  }
  return undefined;
}
