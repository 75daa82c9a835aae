import { ProcessorShare } from './processor-share.js';
import type { QueueTimers } from './queue-timers.js';

/** How often the event loop is measured while there are requests, in milliseconds. */
const sampleMs = 20;
/** Maximum acceptable duration of a turn of the event loop, in milliseconds. */
const wantedTurnMs = 2;
/** Up to this many concurrent requests are never held back. */
export const leastRunning = 4;

/**
 * Determines how many requests may run concurrently in one process before they delay each other. A process has one
 * thread: every current request adds a step to each turn of the event loop, and all others wait for the whole turn. So
 * while turns are too long, fewer requests are admitted, and the rest wait in their queues, where the order is fair.
 * Requests that wait for something else, such as a webhook, do not make turns longer, and are not held back. Turns that
 * are long because other processes use the CPUs don't count either.
 */
export class LoopPressure {
  private allowed: number;
  private cancelSample: (() => void) | undefined;

  /**
   * @param most the number of requests that may run in any case
   * @param onChange receives a new number
   * @param processor which part of the time the thread itself worked
   */
  constructor(
    private readonly most: number,
    private readonly now: () => number,
    private readonly after: QueueTimers['after'],
    private readonly onChange: (allowed: number) => void,
    private readonly processor: Pick<ProcessorShare, 'take'> = new ProcessorShare(),
  ) {
    this.allowed = most;
  }

  /** The number of requests that may run concurrently. */
  get running(): number {
    return this.allowed;
  }

  /** Measures the event loop for as long as `isBusy` returns true. */
  watch(isBusy: () => boolean): void {
    if (this.cancelSample !== undefined) return;
    this.processor.take();
    const due = this.now() + sampleMs;
    this.cancelSample = this.after(sampleMs, () => {
      this.cancelSample = undefined;
      if (!isBusy()) {
        this.set(this.most);
        return;
      }
      const late = (this.now() - due) * this.processor.take();
      this.set(late > wantedTurnMs ? this.allowed * 0.75 : this.allowed * 1.05 + 0.25);
      this.watch(isBusy);
    });
  }

  stop(): void {
    this.cancelSample?.();
    this.cancelSample = undefined;
  }

  private set(allowed: number): void {
    const before = Math.round(this.allowed);
    this.allowed = Math.min(this.most, Math.max(leastRunning, allowed));
    if (Math.round(this.allowed) !== before) this.onChange(Math.round(this.allowed));
  }
}
