/**
 * The waiting items of one party. The line itself decides the order of their turns; iteration may use another order. A
 * line contains an item at most once.
 */
export interface Line<T> extends Iterable<T> {
  readonly size: number;
  add(item: T): void;
  /** Removes and returns the item whose turn it is; undefined when the line is empty. */
  take(): T | undefined;
  /** Returns whether the line contained the item. */
  remove(item: T): boolean;
}

/** A line whose items take their turns in the order in which they were added. */
class FirstComeLine<T> implements Line<T> {
  private readonly items = new Set<T>();

  get size(): number {
    return this.items.size;
  }

  add(item: T): void {
    this.items.add(item);
  }

  take(): T | undefined {
    const [item] = this.items;
    if (item !== undefined) this.items.delete(item);
    return item;
  }

  remove(item: T): boolean {
    return this.items.delete(item);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.items.values();
  }
}

/**
 * Items of parties (namespaces, users) that take turns: after a party has had its turn, all other waiting parties come
 * before it. However many items one party has waiting, an item added by another party waits for one turn of each. An
 * item must not be undefined, and waits at most once.
 */
export class PartyQueue<T> {
  /** The lines of the parties that have waiting items, in the order of their turns. */
  private readonly lines = new Map<string, Line<T>>();
  private count = 0;

  /** @param makeLine makes the order inside of a party. Default: the order in which the items came. */
  constructor(private readonly makeLine: () => Line<T> = () => new FirstComeLine<T>()) {}

  get size(): number {
    return this.count;
  }

  /** The number of waiting items of a party. */
  sizeOf(party: string): number {
    return this.lines.get(party)?.size ?? 0;
  }

  /** The parties with waiting items, in the order of their turns. */
  parties(): Iterable<string> {
    return this.lines.keys();
  }

  /** The waiting items of a party; with the default kind of line, the oldest first. */
  of(party: string): Iterable<T> {
    return this.lines.get(party) ?? [];
  }

  add(party: string, item: T): void {
    let line = this.lines.get(party);
    if (line === undefined) {
      line = this.makeLine();
      this.lines.set(party, line);
    }
    const before = line.size;
    line.add(item);
    this.count += line.size - before;
  }

  /** Removes and returns the next item of the first party that may have its turn; undefined when there is none. */
  take(mayHave: (party: string) => boolean = () => true): { readonly party: string; readonly item: T } | undefined {
    for (const [party, line] of this.lines) {
      if (!mayHave(party)) continue;
      const item = line.take() as T;
      this.count -= 1;
      // The party's next turn comes after those of all others.
      this.lines.delete(party);
      if (line.size > 0) this.lines.set(party, line);
      return { party, item };
    }
    return undefined;
  }

  /** Removes an item before its turn; returns false when it is not waiting. */
  remove(party: string, item: T): boolean {
    const line = this.lines.get(party);
    if (line === undefined || !line.remove(item)) return false;
    this.count -= 1;
    if (line.size === 0) this.lines.delete(party);
    return true;
  }
}
