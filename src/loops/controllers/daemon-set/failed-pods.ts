import { type PauseRange, pauseAfter } from '../../../base/machinery/backoff.js';

const pauses: PauseRange = { firstMs: 1_000, longestMs: 900_000 };

interface Pause {
  readonly since: number;
  /** How many pods failed, each soon after the one before. */
  readonly failures: number;
}

/** How long failed pods stay until they are replaced: longer each time they fail on the same node. */
export class FailedPods {
  private readonly pauses = new Map<string, Pause>();

  /**
   * Whether a failed pod may be replaced now; the next one then has to wait twice as long. Otherwise the remaining
   * wait, in milliseconds.
   *
   * @param key the set in its present generation and the node
   * @param now milliseconds since some fixed point
   */
  mayReplace(key: string, now: number): true | number {
    const known = this.pauses.get(key);
    if (known !== undefined) {
      const left = known.since + pauseAfter(known.failures, pauses) - now;
      if (left > 0) return left;
    }
    const isForgotten = known === undefined || now - known.since > 2 * pauses.longestMs;
    this.pauses.set(key, { since: now, failures: isForgotten ? 1 : known.failures + 1 });
    if (this.pauses.size > mostKeys) this.forgetOld(now);
    return true;
  }

  private forgetOld(now: number): void {
    for (const [key, { since }] of this.pauses) if (now - since > 2 * pauses.longestMs) this.pauses.delete(key);
  }
}

const mostKeys = 1_000;
