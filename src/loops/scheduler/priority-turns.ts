import { PartyQueue } from '../../base/machinery/party-queue.js';
import { Heap } from './heap.js';

/** An item that waits for its turn. */
export interface Waiter {
  readonly priority: number;
  readonly party: string;
}

/**
 * A queue from which the most important items come out first; among equally important ones parties take turns, and in
 * each party the first by `before` comes first. A party may have to pause.
 */
export class PriorityTurns<T extends object> {
  private readonly levels = new Map<number, PartyQueue<T>>();
  /** The levels, the most important first. */
  private order: readonly number[] = [];
  private readonly places = new Map<T, Waiter>();

  constructor(
    private readonly waiterOf: (item: T) => Waiter,
    private readonly before: (a: T, b: T) => boolean,
  ) {}

  get size(): number {
    return this.places.size;
  }

  add(item: T): void {
    if (this.places.has(item)) return;
    const { priority, party } = this.waiterOf(item);
    this.places.set(item, { priority, party });
    let level = this.levels.get(priority);
    if (level === undefined) {
      level = new PartyQueue(() => new Heap(this.before));
      this.levels.set(priority, level);
      this.order = [...this.levels.keys()].sort((a, b) => b - a);
    }
    level.add(party, item);
  }

  remove(item: T): void {
    const place = this.places.get(item);
    if (place === undefined) return;
    this.places.delete(item);
    this.levels.get(place.priority)?.remove(place.party, item);
    this.dropEmpty(place.priority);
  }

  /** The next item of a party that need not pause. */
  take(mustPause: (party: string) => boolean): T | undefined {
    for (const priority of this.order) {
      const next = this.levels.get(priority)?.take((party) => !mustPause(party));
      if (next === undefined) continue;
      this.places.delete(next.item);
      this.dropEmpty(priority);
      return next.item;
    }
    return undefined;
  }

  private dropEmpty(priority: number): void {
    if (this.levels.get(priority)?.size !== 0) return;
    this.levels.delete(priority);
    this.order = this.order.filter((one) => one !== priority);
  }
}
