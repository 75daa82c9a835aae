/** Admits a limited number of callers at one time; the others wait in the order in which they came. */
export class FillGate {
  private readonly waiting: (() => void)[] = [];
  private inside = 0;

  constructor(private readonly most: number) {}

  /** Resolves when the caller is admitted, with the function to call when it leaves. */
  async enter(): Promise<() => void> {
    if (this.inside < this.most) this.inside += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    return () => {
      const next = this.waiting.shift();
      // The next caller takes the place, so the count stays the same.
      if (next === undefined) this.inside -= 1;
      else next();
    };
  }
}
