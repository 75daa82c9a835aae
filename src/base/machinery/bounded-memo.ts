/**
 * Caches what was computed from short strings that recur in nearly every object. Empties itself when full, so strings
 * that clients make up cost one computation each and a bounded amount of memory.
 */
export class BoundedMemo<V> {
  private readonly known = new Map<string, V>();

  /**
   * @param most how many texts are remembered
   * @param longest longer texts are not remembered, in characters
   */
  constructor(
    private readonly compute: (text: string) => V,
    private readonly most: number,
    private readonly longest: number,
  ) {}

  /** The result for the string, cached or computed. Errors of the computation are thrown and not cached. */
  get(text: string): V {
    const known = this.known.get(text);
    if (known !== undefined) return known;
    const value = this.compute(text);
    if (text.length > this.longest) return value;
    if (this.known.size >= this.most) this.known.clear();
    this.known.set(text, value);
    return value;
  }
}
