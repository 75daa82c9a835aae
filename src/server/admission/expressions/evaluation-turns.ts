/** How long evaluations may hold the event loop before they yield to other work, in milliseconds. */
const turnMs = 5;
/** Approximate overhead of an evaluation, for making variables and checking results. */
const overheadMs = 0.02;
/** An evaluation that takes longer is followed by rounds without one. */
const longMs = 10;
/** For each of these milliseconds that it took, one round passes. */
const msPerRest = 5;

/**
 * Shares the event loop between the evaluations of all requests and all other work of the process. In one round of the
 * event loop, evaluations run until they have taken {@link turnMs} together; after that, one evaluation runs per round,
 * in order. After a long one a few rounds pass: a short request needs a few rounds itself, and then waits for one such
 * evaluation, not for one in each of them.
 */
export class EvaluationTurns {
  private spentMs = 0;
  private isScheduled = false;
  /** Rounds that still pass without an evaluation. */
  private rests = 0;
  private readonly waiting: (() => void)[] = [];

  /** Undefined if an evaluation may begin at once; otherwise resolves when its turn has come. */
  next(): Promise<void> | undefined {
    if (this.spentMs < turnMs && this.waiting.length === 0) return undefined;
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.schedule();
    });
  }

  /** Records the duration of an evaluation, and adds the usual overhead before and after it. */
  spent(ms: number): void {
    this.spentMs += ms + overheadMs;
    if (ms > longMs) this.rests = Math.floor(ms / msPerRest);
    if (this.spentMs >= turnMs) this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (this.rests > 0) {
        this.rests -= 1;
        this.schedule();
        return;
      }
      this.spentMs = 0;
      this.waiting.shift()?.();
      if (this.waiting.length > 0) this.schedule();
    });
  }
}
