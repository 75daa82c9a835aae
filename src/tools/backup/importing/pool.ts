/** Runs a limited number of tasks at a time. */
export class Pool {
  private readonly running = new Set<Promise<void>>();
  private fault: { readonly error: unknown } | undefined;

  constructor(private readonly most: number) {}

  /**
   * Starts a task as soon as fewer tasks run than the limit. Throws the error of an earlier task: nothing begins after
   * that.
   */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.running.size >= this.most) await Promise.race(this.running);
    this.check();
    const run = task()
      .catch((error: unknown) => {
        this.fault ??= { error };
      })
      .finally(() => this.running.delete(run));
    this.running.add(run);
  }

  /** Resolves when all tasks have ended; throws what the first one threw. */
  async drain(): Promise<void> {
    await Promise.all(this.running);
    this.check();
  }

  private check(): void {
    if (this.fault !== undefined) throw this.fault.error;
  }
}
