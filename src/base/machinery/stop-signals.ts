const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * npm forwards the signal of a Ctrl-C that the terminal has already sent to this process. The same signal within this
 * time counts once.
 */
const repeatMs = 1000;

/** Turns stop signals into one abort; a second signal exits the process at once. */
export class StopSignals {
  private readonly controller = new AbortController();
  private firstAt = 0;
  private limit: NodeJS.Timeout | undefined;
  private readonly listener = (signal: NodeJS.Signals) => this.receive(signal);

  constructor(private readonly onForce: (signal: NodeJS.Signals) => void) {
    for (const signal of stopSignals) process.on(signal, this.listener);
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves at the first signal. */
  async wait(): Promise<void> {
    if (this.signal.aborted) return;
    await new Promise<void>((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  /** Requests a stop without a signal, after a fault in the process itself. */
  abort(): void {
    this.receive(undefined);
  }

  /**
   * Exits the process if it still runs after the given number of milliseconds. For the stop after the signal: each of
   * its steps has a limit of its own, and this one covers everything else.
   */
  endWithin(ms: number): void {
    clearTimeout(this.limit);
    this.limit = setTimeout(() => this.onForce('SIGTERM'), ms);
    this.limit.unref();
  }

  /** Restores the usual effect of the signals. */
  release(): void {
    clearTimeout(this.limit);
    for (const signal of stopSignals) process.off(signal, this.listener);
  }

  private receive(signal: NodeJS.Signals | undefined): void {
    if (!this.signal.aborted) {
      this.firstAt = performance.now();
      this.controller.abort();
    } else if (signal !== undefined && performance.now() - this.firstAt > repeatMs) this.onForce(signal);
  }
}
