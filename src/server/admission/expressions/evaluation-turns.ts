/** How long evaluations may hold the event loop before other work gets its turn, in milliseconds. */
const turnMs = 5;
/** The overhead of an evaluation takes about this long: variables are made, and results are checked. */
const overheadMs = 0.02;

/**
 * Lets the evaluations of all requests take turns with everything else that a process does. In one round of the event
 * loop evaluations continue until they have taken some milliseconds together; then each round has one evaluation, in
 * order.
 */
export class EvaluationTurns {
  private spentMs = 0;
  private isScheduled = false;
  private readonly waiting: (() => void)[] = [];

  /** Undefined if an evaluation may begin at once; otherwise resolves when it is its turn. */
  next(): Promise<void> | undefined {
    if (this.spentMs < turnMs && this.waiting.length === 0) return undefined;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.schedule();
    });
  }

  /** Records the duration of an evaluation. The time before and after it counts as well. */
  spent(ms: number): void {
    this.spentMs += ms + overheadMs;
    if (this.spentMs >= turnMs) this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.spentMs = 0;
      this.waiting.shift()?.();
      if (this.waiting.length > 0) this.schedule();
    });
  }
}
