import { Heap } from './heap.js';

/** What waits for its turn. */
export interface Waiter {
  readonly priority: number;
  readonly party: string;
}

/**
 * A queue from which the most important come out first; among equally important ones parties take turns, and in each party the
 * first by `before` comes first. A party may have to pause.
 */
export class TurnHeaps<T extends object> {
  private readonly levels = new Map<number, Map<string, Heap<T>>>();
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
      level = new Map();
      this.levels.set(priority, level);
      this.order = [...this.levels.keys()].sort((a, b) => b - a);
    }
    let heap = level.get(party);
    if (heap === undefined) {
      heap = new Heap(this.before);
      level.set(party, heap);
    }
    heap.add(item);
  }

  remove(item: T): void {
    const place = this.places.get(item);
    if (place === undefined) return;
    this.places.delete(item);
    const level = this.levels.get(place.priority);
    const heap = level?.get(place.party);
    heap?.remove(item);
    if (heap?.size === 0) this.dropParty(place);
  }

  /** The next one of a party that need not pause. */
  take(mustPause: (party: string) => boolean): T | undefined {
    for (const priority of this.order) {
      const level = this.levels.get(priority) as Map<string, Heap<T>>;
      for (const [party, heap] of level) {
        if (mustPause(party)) continue;
        const item = heap.take() as T;
        this.places.delete(item);
        // The next turn comes after those of all others.
        level.delete(party);
        if (heap.size > 0) level.set(party, heap);
        else this.dropParty({ priority, party });
        return item;
      }
    }
    return undefined;
  }

  private dropParty({ priority, party }: Waiter): void {
    const level = this.levels.get(priority);
    level?.delete(party);
    if (level?.size !== 0) return;
    this.levels.delete(priority);
    this.order = this.order.filter((one) => one !== priority);
  }
}
