/** The most concurrent calls, and the most calls that wait for a seat. */
export interface CallSeatLimits {
  readonly calls: number;
  readonly waiting: number;
}

/**
 * Limits the calls to one hook, so that a slow one uses up neither the memory of the process nor all the seats for
 * requests.
 */
export class CallSeats {
  private taken = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limits: CallSeatLimits) {}

  /**
   * Runs a call when a seat is free. Returns undefined if too many calls wait already; throws the signal's reason if it
   * is aborted while the call waits.
   */
  take<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> | undefined {
    if (this.taken < this.limits.calls) {
      this.taken++;
      return this.sit(call);
    }
    return this.waiting.size < this.limits.waiting ? this.wait(signal).then(() => this.sit(call)) : undefined;
  }

  private async sit<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } finally {
      const [next] = this.waiting;
      // The seat is handed to the next call without becoming free in between.
      if (next === undefined) this.taken--;
      else {
        this.waiting.delete(next);
        next();
      }
    }
  }

  private wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.delete(next);
        reject(signal.reason as Error);
      };
      this.waiting.add(next);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
    });
  }
}
