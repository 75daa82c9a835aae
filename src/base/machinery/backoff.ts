/** The first pause between attempts, and the longest, in milliseconds. */
export interface PauseRange {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after `failures` failures in a row (at least one), in milliseconds: it doubles with each of them. */
export function pauseAfter(failures: number, { firstMs, longestMs }: PauseRange): number {
  return Math.min(firstMs * 2 ** Math.min(failures - 1, 30), longestMs);
}

/** Pauses between attempts: the first one, then twice as long after each failure, up to the longest. */
export class Backoff {
  private count = 0;

  /** @param random from 0 to 1: shortens each pause by up to half, so that many do not try again together. Default: 1 */
  constructor(
    private readonly range: PauseRange,
    private readonly random: () => number = () => 1,
  ) {}

  /** Failures since the last success. */
  get failures(): number {
    return this.count;
  }

  /** The pause after another failure, in milliseconds. */
  next(): number {
    this.count += 1;
    return pauseAfter(this.count, this.range) * (0.5 + this.random() / 2);
  }

  /** An attempt was successful: pauses begin with the first one again. */
  reset(): void {
    this.count = 0;
  }
}
