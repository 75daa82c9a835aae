/**
 * Remembers what was computed from short texts that recur in nearly every object. Forgets everything when it is full, so
 * texts that clients make up cost no more than a computation and a bounded amount of memory.
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

  /** What is computed from the text; throws what the computation throws, each time. */
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
