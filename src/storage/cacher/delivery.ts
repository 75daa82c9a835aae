import type { Change } from '../storage.interface.js';
import type { CacheTimers } from './cache-options.js';
import type { CacheWatcher } from './cache-watcher.js';
import type { WatcherGroups } from './watcher-groups.js';

/** A delivery that took less time holds nothing else up, in milliseconds. */
const UNNOTICED_MS = 2;
/** The longest pause, however long the delivery took, in milliseconds. */
const LONGEST_PAUSE_MS = 50;

/**
 * Hands changes to the watchers of a resource. Writing to hundreds of sockets takes longer than any other work of this
 * process. So a delivery that took time is followed by a pause of the same length. Requests get half of the time, and
 * changes that come in the pause go out together, in one write per watcher. A change that comes alone goes out at once.
 */
export class Delivery {
  private readonly groups: WatcherGroups;
  private readonly timers: CacheTimers;
  private readonly onSlow: (watcher: CacheWatcher) => void;
  private pending: Change[] = [];
  private position = 0n;
  private isBusy = false;
  private cancelPause: (() => void) | undefined;

  /** Calls `onSlow` for each watcher whose buffer is too full. */
  constructor(groups: WatcherGroups, timers: CacheTimers, onSlow: (watcher: CacheWatcher) => void) {
    this.groups = groups;
    this.timers = timers;
    this.onSlow = onSlow;
  }

  /** Takes the next changes; with them the log is complete up to `position`. */
  deliver(changes: readonly Change[], position: bigint): void {
    this.position = position;
    if (this.isBusy) {
      for (const change of changes) this.pending.push(change);
      return;
    }
    this.offer(changes);
  }

  /** Sends everything that waits, because there will be no later delivery. */
  flush(): void {
    this.cancelPause?.();
    this.cancelPause = undefined;
    this.isBusy = false;
    if (this.pending.length > 0) this.hand(this.pending.splice(0));
  }

  private offer(changes: readonly Change[]): void {
    const timers = this.timers;
    const began = timers.now();
    this.hand(changes);
    this.isBusy = true;
    // Watchers write when their turn comes.
    timers.soon(() => {
      const took = timers.now() - began;
      if (!this.isBusy) return;
      if (took < UNNOTICED_MS) this.goOn();
      else this.cancelPause = timers.after(Math.min(took, LONGEST_PAUSE_MS), () => this.goOn());
    });
  }

  private goOn(): void {
    this.cancelPause = undefined;
    this.isBusy = false;
    if (this.pending.length > 0) this.offer(this.pending.splice(0));
  }

  private hand(changes: readonly Change[]): void {
    for (const watcher of this.groups.offer(changes, this.position)) this.onSlow(watcher);
  }
}
