import type { CacheTimers } from './cache-options.js';
import type { CacheWatcher } from './cache-watcher.js';

/** Shortest and longest turn in milliseconds (approximately: what one watcher gets is not interrupted). */
const SHORTEST_TURN_MS = 1;
const LONGEST_TURN_MS = 5;
/** A shorter pause would cost more than it gives. */
const SHORTEST_PAUSE_MS = 1;
/** The longest pause, however long the delivery took, in milliseconds. */
const LONGEST_PAUSE_MS = 10;

/** When a watcher had its last turn. */
export interface DeliveryTurn {
  readonly at: number;
  /** How long all turns until then took together, in milliseconds. */
  readonly worked: number;
}

/**
 * Hands changes to the watchers of a resource, one after the other in the order in which they fell behind. Writing to
 * hundreds of sockets takes longer than any other work of this process. So it is done in turns: each round of the event
 * loop has one, as long as the rest of the round was. A watcher gets everything that has come until its turn, in one
 * piece, and is last in the row for what comes later.
 *
 * Changes that come one by one go out at once. Where they come faster, a watcher waits until other work had as much time
 * as the delivery since its last turn. So more changes go out in one write, and requests get half of the time.
 */
export class Delivery {
  private readonly due = new Set<CacheWatcher>();
  private isRunning = false;
  private endedAt = 0;
  private worked = 0;

  constructor(private readonly timers: CacheTimers) {}

  /** Queues a watcher; one that waits already keeps its place. */
  add(watcher: CacheWatcher): void {
    this.due.add(watcher);
  }

  /** Begins at once, unless the first in the row has had a turn just before. */
  start(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    this.goOn();
  }

  private readonly goOn = (): void => {
    const [first] = this.due;
    if (first === undefined) {
      this.isRunning = false;
      return;
    }
    const now = this.timers.now();
    const { lastTurn } = first;
    const pause = lastTurn === undefined ? 0 : 2 * (this.worked - lastTurn.worked) - (now - lastTurn.at);
    if (pause >= SHORTEST_PAUSE_MS) {
      this.timers.after(Math.min(pause, LONGEST_PAUSE_MS), () => this.deliver(this.timers.now(), SHORTEST_TURN_MS));
      return;
    }
    this.deliver(now, Math.min(Math.max(now - this.endedAt, SHORTEST_TURN_MS), LONGEST_TURN_MS));
  };

  private deliver(began: number, turnMs: number): void {
    const { timers } = this;
    const turn = { at: began, worked: this.worked };
    let now = began;
    for (const watcher of this.due) {
      this.due.delete(watcher);
      watcher.lastTurn = turn;
      watcher.hand();
      now = timers.now();
      if (now - began >= turnMs) break;
    }
    this.endedAt = now;
    this.worked += now - began;
    timers.soon(this.goOn);
  }
}
