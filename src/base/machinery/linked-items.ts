/** A handle on an item in {@link LinkedItems}, for removing it. */
export interface ListPlace<T> {
  /** Undefined once removed. */
  readonly item: T | undefined;
}

class Link<T> implements ListPlace<T> {
  item: T | undefined = undefined;
  previous: Link<T> = this;
  next: Link<T> = this;
}

/**
 * Items in the order in which they were added, for items that are added and removed with each request. A Set or Map
 * would work too, but whenever its table is full of removed entries, the engine allocates another table and lets the
 * old one point to it. Once a table of that chain has been promoted to the old generation, minor collections keep all
 * later tables alive with everything in them, and every request is promoted too, which costs five times as much as
 * collecting it young.
 */
export class LinkedItems<T> implements Iterable<T> {
  /** The sentinel before the first and after the last item. */
  private readonly end = new Link<T>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The handle of the oldest item. */
  get first(): ListPlace<T> | undefined {
    return this.count === 0 ? undefined : this.end.next;
  }

  /** Adds an item after all others. */
  add(item: T): ListPlace<T> {
    const link = new Link<T>();
    link.item = item;
    link.previous = this.end.previous;
    link.next = this.end;
    link.previous.next = link;
    this.end.previous = link;
    this.count++;
    return link;
  }

  /** Removes an item of this list. Further calls do nothing. */
  remove(place: ListPlace<T>): void {
    const link = place as Link<T>;
    if (link.next === link) return;
    link.previous.next = link.next;
    link.next.previous = link.previous;
    // Unlink it: a removed item that still pointed to newer ones would keep them from being collected.
    link.previous = link;
    link.next = link;
    link.item = undefined;
    this.count--;
  }

  /** The items must not change during the iteration; copy them first if they might. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (let link = this.end.next; link !== this.end; link = link.next) {
      yield link.item as T;
      // A removed item points to itself.
      if (link.next === link) throw new Error('an item was removed while the items were visited');
    }
  }
}
