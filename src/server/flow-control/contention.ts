import { type LoopClock, ownClock } from './processor-share.js';
import type { QueueTimers } from './queue-timers.js';

/** How often the use of the event loop is measured while several users have requests, in milliseconds. */
const sampleMs = 50;
/** The weight of the newest sample in the mean. */
const newestPart = 0.3;
/** The wanted fraction of time in which the event loop has work; above and below it, tenants wait longer and shorter. */
const wantedActive = { most: 0.5, least: 0.4 };
const growth = 1.5;
const decline = 0.9;
/** A smaller spacing than this delays nobody. */
const leastSpacing = 0.125;
const mostSpacing = 16;

/**
 * Determines how far apart the requests of a demanding tenant have to begin, so that the requests of others find the event
 * loop free. Time in which the thread has work but no CPU counts, too: a tenant whose requests keep the database, or the
 * processors, busy holds up others as well as one that keeps the thread busy.
 */
export class Contention {
  private factor = 0;
  private active = 0;
  private cancelSample: (() => void) | undefined;

  constructor(
    private readonly timers: QueueTimers,
    private readonly clock: Pick<LoopClock, 'activeMs'> = ownClock,
  ) {}

  /** The time between two requests of the only demanding tenant, as a multiple of the time that one takes; 0: none. */
  get spacing(): number {
    return this.factor;
  }

  /** Measures for as long as `isShared` returns true: whether several users have requests. */
  watch(isShared: () => boolean): void {
    if (this.cancelSample !== undefined) return;
    const { clock, timers } = this;
    const began = timers.elapsed();
    const activeBefore = clock.activeMs();
    this.cancelSample = timers.after(sampleMs, () => {
      this.cancelSample = undefined;
      if (!isShared()) {
        this.factor = 0;
        this.active = 0;
        return;
      }
      const passed = timers.elapsed() - began;
      this.adjust(passed > 0 ? Math.min(1, (clock.activeMs() - activeBefore) / passed) : 0);
      this.watch(isShared);
    });
  }

  stop(): void {
    this.cancelSample?.();
    this.cancelSample = undefined;
  }

  private adjust(active: number): void {
    this.active += (active - this.active) * newestPart;
    if (this.active > wantedActive.most) {
      this.factor = Math.min(mostSpacing, Math.max(leastSpacing, this.factor * growth));
    } else if (this.active < wantedActive.least) {
      const less = this.factor * decline;
      this.factor = less < leastSpacing ? 0 : less;
    }
  }
}
