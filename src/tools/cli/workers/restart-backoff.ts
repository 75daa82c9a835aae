import { Backoff } from '../../../base/machinery/backoff.js';

/** A worker that served for at least this long, in milliseconds, was not faulty from the start. */
const soundAfterMs = 60_000;

/** How long to wait before a worker is restarted: twice as long each time, until one lasts. */
export class RestartBackoff {
  private readonly backoff = new Backoff({ firstMs: 250, longestMs: 30_000 });

  /** The wait in milliseconds after a worker that lived for `lifetimeMs`. */
  next(lifetimeMs: number): number {
    if (lifetimeMs >= soundAfterMs) this.backoff.reset();
    return this.backoff.next();
  }
}
