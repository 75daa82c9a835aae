/** Pauses between attempts: doubling from `firstMs` to `mostMs`, each shortened at random by up to half. */
export class Backoff {
  private readonly firstMs: number;
  private readonly mostMs: number;
  private readonly random: () => number;
  private nextMs: number;

  /** `random` returns numbers from 0 to below 1. */
  constructor(firstMs: number, mostMs: number, random: () => number = Math.random) {
    this.random = random;
    this.firstMs = firstMs;
    this.mostMs = mostMs;
    this.nextMs = firstMs;
  }

  next(): number {
    const pause = this.nextMs * (0.5 + this.random() / 2);
    this.nextMs = Math.min(this.mostMs, this.nextMs * 2);
    return pause;
  }

  reset(): void {
    this.nextMs = this.firstMs;
  }
}

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
export function untilAborted(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
