/** The place of an item in {@link LinkedItems}, for its removal. */
export interface Place<T> {
  /** Undefined once removed. */
  readonly item: T | undefined;
}

class Link<T> implements Place<T> {
  item: T | undefined = undefined;
  previous: Link<T> = this;
  next: Link<T> = this;
}

/**
 * Items in the order in which they came, for items that come and go with each request. A Set or Map would serve as
 * well, but each time its table is full of removed entries, the engine makes another table and lets the old one point
 * to it. Once a table of that chain is an old object, collections of young objects keep all later tables alive with
 * everything in them, and every request is moved to the old objects, which costs five times as much as leaving it
 * behind.
 */
export class LinkedItems<T> implements Iterable<T> {
  /** Before the first and after the last item. */
  private readonly end = new Link<T>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The place of the item that came first. */
  get first(): Place<T> | undefined {
    return this.count === 0 ? undefined : this.end.next;
  }

  /** Adds an item after all others. */
  add(item: T): Place<T> {
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
  remove(place: Place<T>): void {
    const link = place as Link<T>;
    if (link.next === link) return;
    link.previous.next = link.next;
    link.next.previous = link.previous;
    // A removed item must point to nothing younger.
    link.previous = link;
    link.next = link;
    link.item = undefined;
    this.count--;
  }

  /** The items may not change meanwhile; copy them otherwise. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (let link = this.end.next; link !== this.end; link = link.next) {
      yield link.item as T;
      // The removed item has no successor any more.
      if (link.next === link) throw new Error('an item was removed while the items were visited');
    }
  }
}
