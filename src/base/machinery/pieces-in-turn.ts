/** Pieces that may begin in one round of the event loop. */
const piecesOfRound = 8;
/** Time after which no more pieces begin in a round, in milliseconds. */
const roundMs = 1;

/**
 * Lets pieces of long work run one after the other: in each round of the event loop a few of those that wait go on, those
 * that have waited longest. However many answers are written at one time, everything else waits for a moment only.
 */
export class PiecesInTurn {
  private readonly waiting: (() => void)[] = [];
  private isRunning = false;
  private roundBegan = 0;

  /** @param now milliseconds from a fixed point */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Resolves when the next piece may be worked on, in a later round. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.isRunning) return;
      this.isRunning = true;
      setImmediate(this.begin);
    });
  }

  private readonly begin = (): void => {
    const count = Math.min(this.waiting.length, piecesOfRound);
    if (count === 0) {
      this.isRunning = false;
      return;
    }
    // What is set up now runs in the next round, and the work of each piece between two of these.
    setImmediate(this.first);
    for (let i = 1; i < count; i++) setImmediate(this.next);
    setImmediate(this.begin);
  };

  private readonly first = (): void => {
    this.roundBegan = this.now();
    this.waiting.shift()?.();
  };

  private readonly next = (): void => {
    if (this.now() - this.roundBegan < roundMs) this.waiting.shift()?.();
  };
}

/** The turns of all long answers of this thread. */
export const longAnswers = new PiecesInTurn();
