import { NoSeat } from './no-seat.js';
/** Limits of a {@link FairSeats}. */
export interface FairSeatLimits {
  /** The total number of seats. */
  readonly seats: number;
  /** The most seats of one user. */
  readonly seatsOfUser: number;
  /** The most waiting calls of one user. */
  readonly waitingOfUser: number;
  /** The longest wait of a call, in milliseconds. */
  readonly waitMs: number;
}

interface Waiting {
  readonly user: string;
  admit(): void;
}

/**
 * Shares a limited number of seats between users; a seat is the right to make one call. A user with many calls waits
 * behind their own: a free seat goes to the user with the fewest seats, among several to the one who has waited longest
 * for a turn.
 */
export class FairSeats {
  private readonly taken = new Map<string, number>();
  private readonly queues = new Map<string, Waiting[]>();
  /** Grows with each seat that is given; users with lower numbers had their last turn earlier. */
  private readonly turns = new Map<string, number>();
  private turn = 0;
  private used = 0;

  constructor(private readonly limits: FairSeatLimits) {}

  /**
   * Waits for a seat, and resolves with a function that gives it back; further calls of it do nothing.
   *
   * @throws NoSeat; the reason of `signal` when it is aborted first
   */
  async take(user: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.used < this.limits.seats && this.mayHave(user) && !this.queues.has(user)) return this.give(user);
    const queue = this.queues.get(user) ?? [];
    if (queue.length >= this.limits.waitingOfUser) throw new NoSeat('you have too much under way: try again later');
    this.queues.set(user, queue);
    return await this.wait(user, queue, signal);
  }

  private wait(user: string, queue: Waiting[], signal: AbortSignal | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const waiting: Waiting = {
        user,
        admit: () => {
          done();
          resolve(this.give(user));
        },
      };
      const remove = (): void => {
        const at = queue.indexOf(waiting);
        if (at >= 0) queue.splice(at, 1);
        this.forget(user);
      };
      const leave = (): void => {
        done();
        remove();
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(() => {
        done();
        remove();
        reject(new NoSeat('others are asking already: try again'));
      }, this.limits.waitMs);
      signal?.addEventListener('abort', leave, { once: true });
      queue.push(waiting);
    });
  }

  private mayHave(user: string): boolean {
    return (this.taken.get(user) ?? 0) < this.limits.seatsOfUser;
  }

  private give(user: string): () => void {
    this.used++;
    this.taken.set(user, (this.taken.get(user) ?? 0) + 1);
    this.turn++;
    this.turns.set(user, this.turn);
    let isGiven = true;
    return () => {
      if (!isGiven) return;
      isGiven = false;
      this.used--;
      const left = (this.taken.get(user) ?? 1) - 1;
      if (left === 0) this.taken.delete(user);
      else this.taken.set(user, left);
      this.forget(user);
      this.admitNext();
    };
  }

  private admitNext(): void {
    while (this.used < this.limits.seats) {
      const users = [...this.queues.keys()].filter((user) => this.mayHave(user));
      const [next] = users.toSorted((a, b) => this.rank(a) - this.rank(b) || this.turnOf(a) - this.turnOf(b));
      const queue = next === undefined ? undefined : this.queues.get(next);
      const first = queue?.shift();
      if (next === undefined || first === undefined) return;
      first.admit();
      this.forget(next);
    }
  }

  private rank(user: string): number {
    return this.taken.get(user) ?? 0;
  }

  private turnOf(user: string): number {
    return this.turns.get(user) ?? 0;
  }

  /** Keeps no state of a user who neither has nor wants a seat. */
  private forget(user: string): void {
    if ((this.queues.get(user)?.length ?? 0) === 0) this.queues.delete(user);
    if (!this.queues.has(user) && !this.taken.has(user)) this.turns.delete(user);
  }
}
