/**
 * The items of one party. The line itself decides the order of their turns; iteration may use another order. An item is
 * in it at most once.
 */
export interface Line<T> extends Iterable<T> {
  readonly size: number;
  add(item: T): void;
  /** Takes out the item whose turn it is; undefined when there is none. */
  take(): T | undefined;
  /** Whether the item was there. */
  remove(item: T): boolean;
}

/** A line whose items come out in the order in which they came. */
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
 * before it. However much one party has waiting, an item added by another one waits for one turn of each. An item must
 * not be undefined, and waits at most once.
 */
export class PartyQueue<T> {
  /** The waiting items of each party that has some; the party whose turn is next comes first. */
  private readonly lines = new Map<string, Line<T>>();
  private count = 0;

  /** @param makeLine makes the order inside of a party. Default: the order in which the items came. */
  constructor(private readonly makeLine: () => Line<T> = () => new FirstComeLine<T>()) {}

  get size(): number {
    return this.count;
  }

  /** How many items of a party wait. */
  sizeOf(party: string): number {
    return this.lines.get(party)?.size ?? 0;
  }

  /** The parties that have something waiting, the one whose turn is next first. */
  parties(): Iterable<string> {
    return this.lines.keys();
  }

  /** The waiting items of a party: without a line of another kind, the oldest first. */
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

  /** Takes out the next item of the first party that may have its turn; undefined when there is none. */
  take(mayHave: (party: string) => boolean = () => true): { readonly party: string; readonly item: T } | undefined {
    for (const [party, line] of this.lines) {
      if (!mayHave(party)) continue;
      const item = line.take() as T;
      this.count -= 1;
      // The next turn comes after those of all others.
      this.lines.delete(party);
      if (line.size > 0) this.lines.set(party, line);
      return { party, item };
    }
    return undefined;
  }

  /** Takes out an item whose turn has not come; false when it does not wait. */
  remove(party: string, item: T): boolean {
    const line = this.lines.get(party);
    if (line === undefined || !line.remove(item)) return false;
    this.count -= 1;
    if (line.size === 0) this.lines.delete(party);
    return true;
  }
}
