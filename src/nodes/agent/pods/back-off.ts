interface Pause {
  readonly ms: number;
  /** When the pause was last extended. */
  readonly at: number;
}

/** Pauses between attempts, by key: the first pause, doubled with each further attempt up to the longest. */
export class BackOff {
  private readonly pauses = new Map<string, Pause>();

  constructor(
    private readonly firstMs: number,
    private readonly longestMs: number,
  ) {}

  /**
   * When the pause after a failure ends; undefined if there is none.
   *
   * @param since when the attempt failed
   */
  endAfter(key: string, since: number): number | undefined {
    const pause = this.pauses.get(key);
    return pause === undefined || this.isOld(pause, since) ? undefined : since + pause.ms;
  }

  /** The present pause, in milliseconds. */
  pauseMs(key: string): number {
    return this.pauses.get(key)?.ms ?? 0;
  }

  /** Another attempt begins. After twice the longest pause without one, the pauses begin with the first again. */
  next(key: string, now: number): void {
    const pause = this.pauses.get(key);
    const ms = pause === undefined || this.isOld(pause, now) ? this.firstMs : Math.min(2 * pause.ms, this.longestMs);
    this.pauses.set(key, { ms, at: now });
  }

  /** Forgets all keys with this prefix. */
  forget(prefix: string): void {
    for (const key of this.pauses.keys()) if (key.startsWith(prefix)) this.pauses.delete(key);
  }

  private isOld(pause: Pause, now: number): boolean {
    return now - pause.at > 2 * this.longestMs;
  }
}
