import type { CallbackTimers } from '../../base/machinery/timers.js';

/** Shortest and longest turn in milliseconds (approximately: a delivery to one watcher is not interrupted). */
const SHORTEST_TURN_MS = 2;
const LONGEST_TURN_MS = 5;
/** A shorter pause would cost more than it gains. */
const SHORTEST_PAUSE_MS = 1;
/**
 * How much time other work receives for each millisecond of delivery; the pause between two turns is at most this many
 * milliseconds.
 */
const OTHERS_SHARE = 1.5;
const LONGEST_PAUSE_MS = 15;

/** When a watcher had its last turn. */
export interface DeliveryTurn {
  readonly at: number;
  /** How long all turns up to this one took together, in milliseconds. */
  readonly worked: number;
}

/** The part of a watcher that the delivery uses. */
export interface DueWatcher {
  /** The watcher's last turn, set by the delivery; undefined if there was none. */
  lastTurn: DeliveryTurn | undefined;
  /** Delivers the changes that are pending for the watcher. Never throws. */
  hand(): void;
}

/**
 * Delivers changes to the watchers of a resource, one after the other in the order in which they fell behind. Writing
 * to hundreds of sockets takes longer than any other work of this process, so it is done in turns: each round of the
 * event loop has one turn, which lasts as long as the rest of the round did. A watcher receives everything that was
 * pending at its turn, in one piece, and goes to the end of the queue for later changes.
 *
 * Changes that come one by one are sent at once. When changes come faster, a watcher waits until other work has had
 * more time than the delivery since its last turn. So more changes are sent in one write, and requests get the greater
 * part of the time.
 */
export class Delivery {
  private readonly due = new Set<DueWatcher>();
  private isRunning = false;
  private endedAt = 0;
  private worked = 0;

  constructor(private readonly timers: CallbackTimers) {}

  /** Queues a watcher; one that is queued already keeps its place. */
  add(watcher: DueWatcher): void {
    this.due.add(watcher);
  }

  /** Begins at once, unless the first watcher in the queue has just had a turn. */
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
    const now = this.timers.elapsed();
    const pause = this.pauseBefore(first, now);
    if (pause >= SHORTEST_PAUSE_MS) {
      this.timers.after(pause, () => {
        // The pause was for other work, so it does not make this turn longer.
        this.endedAt = this.timers.elapsed();
        this.goOn();
      });
      return;
    }
    this.deliver(now, Math.min(Math.max(now - this.endedAt, SHORTEST_TURN_MS), LONGEST_TURN_MS));
  };

  /** How long a watcher must still wait, in milliseconds. */
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
      // No watcher has its turn early, not even a little: the first one in the queue would gain on the others with each
      // turn.
      if (now > began && this.pauseBefore(watcher, now) > 0) break;
      this.due.delete(watcher);
      watcher.lastTurn = turn;
      watcher.hand();
      const then = now;
      now = timers.elapsed();
      this.worked += now - then;
      if (now - began >= turnMs) break;
    }
    this.endedAt = now;
    timers.soon(this.goOn);
  }
}
