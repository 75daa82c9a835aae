/**
 * Lets pieces of long work run one after the other: in each round of the event loop one of those that wait goes on, the
 * one that has waited longest. However many answers are written at one time, everything else waits for one piece only.
 */
export class OnePerRound {
  private readonly waiting: (() => void)[] = [];
  private isRunning = false;

  /** Resolves when the next piece may be worked on, in a later round. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.isRunning) return;
      this.isRunning = true;
      setImmediate(this.next);
    });
  }

  private readonly next = (): void => {
    const go = this.waiting.shift();
    if (go === undefined) {
      this.isRunning = false;
      return;
    }
    setImmediate(this.next);
    go();
  };
}

/** The turns of all long answers of this thread. */
export const longAnswers = new OnePerRound();
