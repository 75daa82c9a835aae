const firstMs = 250;
const longestMs = 30_000;
/** A worker that served for this long was not faulty from the start. */
const soundAfterMs = 60_000;

/** How long to wait before a worker is restarted: twice as long each time, until one lasts. */
export class RestartBackoff {
  private failures = 0;

  /** The wait in milliseconds after a worker that lived for `lifetimeMs`. */
  next(lifetimeMs: number): number {
    if (lifetimeMs >= soundAfterMs) this.failures = 0;
    const wait = Math.min(longestMs, firstMs * 2 ** this.failures);
    this.failures++;
    return wait;
  }
}
