/** Runs work, so much at one time; the rest waits in the order in which it came. */
export class Lanes {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  constructor(private readonly most: number) {}

  /** Resolves or rejects as the work does. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.most) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      // The place goes on to the next one.
      if (next === undefined) this.running -= 1;
      else next();
    }
  }
}
