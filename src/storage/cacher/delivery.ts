import type { CacheTimers } from './cache-options.js';

/** Shortest and longest turn in milliseconds (approximately: what one watcher gets is not interrupted). */
const SHORTEST_TURN_MS = 2;
const LONGEST_TURN_MS = 5;
/** A shorter pause would cost more than it gives. */
const SHORTEST_PAUSE_MS = 1;
/** How much time others have for each millisecond of delivery, at most so many milliseconds between two turns. */
const OTHERS_SHARE = 1.5;
const LONGEST_PAUSE_MS = 15;

/** When a watcher had its last turn. */
export interface DeliveryTurn {
  readonly at: number;
  /** How long all turns until then took together, in milliseconds. */
  readonly worked: number;
}

/** A watcher, as the delivery sees it. */
export interface DueWatcher {
  /** Undefined: it had none yet. Set by the delivery. */
  lastTurn: DeliveryTurn | undefined;
  /** Hands over what has come for it. Never throws. */
  hand(): void;
}

/**
 * Hands changes to the watchers of a resource, one after the other in the order in which they fell behind. Writing to
 * hundreds of sockets takes longer than any other work of this process. So it is done in turns: each round of the event
 * loop has one, as long as the rest of the round was. A watcher gets everything that has come until its turn, in one
 * piece, and is last in the row for what comes later.
 *
 * Changes that come one by one go out at once. Where they come faster, a watcher waits until other work had more time than
 * the delivery since its last turn. So more changes go out in one write, and requests get the greater part of the time.
 */
export class Delivery {
  private readonly due = new Set<DueWatcher>();
  private isRunning = false;
  private endedAt = 0;
  private worked = 0;

  constructor(private readonly timers: CacheTimers) {}

  /** Queues a watcher; one that waits already keeps its place. */
  add(watcher: DueWatcher): void {
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
    const pause = this.pauseBefore(first, now);
    if (pause >= SHORTEST_PAUSE_MS) {
      this.timers.after(pause, () => {
        // The pause was for others, so it does not make this turn longer.
        this.endedAt = this.timers.now();
        this.goOn();
      });
      return;
    }
    this.deliver(now, Math.min(Math.max(now - this.endedAt, SHORTEST_TURN_MS), LONGEST_TURN_MS));
  };

  /** How long a watcher has to wait yet, in milliseconds. */
  private pauseBefore({ lastTurn }: DueWatcher, now: number): number {
    if (lastTurn === undefined) return 0;
    const worked = this.worked - lastTurn.worked;
    return worked + Math.min(worked * OTHERS_SHARE, LONGEST_PAUSE_MS) - (now - lastTurn.at);
  }

  private deliver(began: number, turnMs: number): void {
    const { timers } = this;
    const turn = { at: began, worked: this.worked };
    let now = began;
    for (const watcher of this.due) {
      // Not even a little early: the first of the row would get ahead of the others turn by turn.
      if (now > began && this.pauseBefore(watcher, now) > 0) break;
      this.due.delete(watcher);
      watcher.lastTurn = turn;
      watcher.hand();
      const then = now;
      now = timers.now();
      this.worked += now - then;
      if (now - began >= turnMs) break;
    }
    this.endedAt = now;
    timers.soon(this.goOn);
  }
}
