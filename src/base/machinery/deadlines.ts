import { LinkedItems, type ListPlace } from './linked-items.js';

/** Timers with a longer time would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** One piece of work with a time limit, as the handle for its end. */
export class Deadline {
  place: ListPlace<Deadline> | undefined = undefined;

  constructor(
    /** In milliseconds of `performance.now()`. */
    readonly dueAt: number,
    readonly expire: () => void,
  ) {}
}

/**
 * Time limits of work that mostly ends long before. All of it shares one timer: a timer of its own for each piece of work
 * would be started and stopped with each request. The timer keeps no process alive.
 */
export class Deadlines {
  private readonly running = new LinkedItems<Deadline>();
  private timer: NodeJS.Timeout | undefined;
  private firesAt = Number.POSITIVE_INFINITY;

  /** Calls `expire` after `ms` milliseconds, unless the work has ended by then. */
  begin(ms: number, expire: () => void): Deadline {
    const now = performance.now();
    const deadline = new Deadline(now + ms, expire);
    deadline.place = this.running.add(deadline);
    if (deadline.dueAt < this.firesAt) this.wait(now, deadline.dueAt);
    return deadline;
  }

  end({ place }: Deadline): void {
    if (place !== undefined) this.running.remove(place);
  }

  /** Ends all work that is left, without calling `expire`. */
  stop(): void {
    clearTimeout(this.timer);
    this.firesAt = Number.POSITIVE_INFINITY;
    for (const deadline of [...this.running]) this.end(deadline);
  }

  private wait(now: number, until: number): void {
    clearTimeout(this.timer);
    this.firesAt = until;
    const ms = Math.min(longestTimerMs, Math.max(1, Math.ceil(until - now)));
    this.timer = setTimeout(() => this.look(), ms).unref();
  }

  private look(): void {
    this.firesAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    const all = [...this.running];
    const due = all.filter(({ dueAt }) => dueAt <= now);
    const next = all.reduce((least, { dueAt }) => (dueAt > now ? Math.min(least, dueAt) : least), this.firesAt);
    for (const deadline of due) this.end(deadline);
    if (next < this.firesAt) this.wait(now, next);
    for (const { expire } of due) expire();
  }
}
