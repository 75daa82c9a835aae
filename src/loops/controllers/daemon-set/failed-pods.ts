const firstPauseMs = 1_000;
const longestPauseMs = 900_000;

interface Pause {
  readonly since: number;
  readonly ms: number;
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
    if (known !== undefined && now - known.since < known.ms) return known.ms - (now - known.since);
    const isForgotten = known === undefined || now - known.since > 2 * longestPauseMs;
    const ms = isForgotten ? firstPauseMs : Math.min(longestPauseMs, known.ms * 2);
    this.pauses.set(key, { since: now, ms });
    if (this.pauses.size > mostKeys) this.forgetOld(now);
    return true;
  }

  private forgetOld(now: number): void {
    for (const [key, { since }] of this.pauses) if (now - since > 2 * longestPauseMs) this.pauses.delete(key);
  }
}

const mostKeys = 1_000;
