import type { Timers } from '../../../base/machinery/timers.js';

/** When work on a key is due: at the earliest requested time, but not before the key has rested since its last work. */
export class AskedWork {
  private readonly due = new Map<string, number>();
  private readonly restUntil = new Map<string, number>();

  constructor(
    private readonly timers: Timers,
    private readonly signal: AbortSignal,
    private readonly begin: (key: string) => void,
  ) {}

  /** Requests work after `delayMs`. */
  ask(key: string, delayMs: number): void {
    const now = this.timers.elapsed();
    const at = Math.max(now + delayMs, this.restUntil.get(key) ?? 0);
    if ((this.due.get(key) ?? Number.POSITIVE_INFINITY) <= at) return;
    this.due.set(key, at);
    void this.wake(key, at, at - now);
  }

  /** Begins no work on the key for this long. */
  rest(key: string, milliseconds: number): void {
    const now = this.timers.elapsed();
    for (const [other, until] of this.restUntil) if (until < now) this.restUntil.delete(other);
    this.restUntil.set(key, now + milliseconds);
  }

  private async wake(key: string, at: number, delayMs: number): Promise<void> {
    if (delayMs > 0) await this.timers.wait(delayMs, this.signal);
    if (this.signal.aborted || this.due.get(key) !== at) return;
    this.due.delete(key);
    this.begin(key);
  }
}
