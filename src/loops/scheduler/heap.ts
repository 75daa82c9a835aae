import type { Line } from '../../base/machinery/party-queue.js';

/** A priority queue of which any member can be removed; the first by `before` comes out first. */
export class Heap<T> implements Line<T> {
  private readonly items: T[] = [];
  private readonly places = new Map<T, number>();

  constructor(private readonly before: (a: T, b: T) => boolean) {}

  get size(): number {
    return this.items.length;
  }

  /** Iterates in no particular order. */
  [Symbol.iterator](): Iterator<T> {
    return this.items.values();
  }

  get first(): T | undefined {
    return this.items[0];
  }

  has(item: T): boolean {
    return this.places.has(item);
  }

  add(item: T): void {
    if (this.places.has(item)) return;
    this.items.push(item);
    this.places.set(item, this.items.length - 1);
    this.rise(this.items.length - 1);
  }

  remove(item: T): boolean {
    const at = this.places.get(item);
    if (at === undefined) return false;
    this.places.delete(item);
    const last = this.items.pop() as T;
    if (at < this.items.length) {
      this.put(last, at);
      this.rise(at);
      this.sink(this.places.get(last) as number);
    }
    return true;
  }

  take(): T | undefined {
    const { first } = this;
    if (first !== undefined) this.remove(first);
    return first;
  }

  private put(item: T, at: number): void {
    this.items[at] = item;
    this.places.set(item, at);
  }

  private rise(start: number): void {
    const item = this.items[start] as T;
    let at = start;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = this.items[up] as T;
      if (!this.before(item, above)) break;
      this.put(above, at);
      at = up;
    }
    this.put(item, at);
  }

  private sink(start: number): void {
    const item = this.items[start] as T;
    let at = start;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= this.items.length) break;
      if (down + 1 < this.items.length && this.before(this.items[down + 1] as T, this.items[down] as T)) down += 1;
      const below = this.items[down] as T;
      if (!this.before(below, item)) break;
      this.put(below, at);
      at = down;
    }
    this.put(item, at);
  }
}
