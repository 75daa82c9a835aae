import {
  type Budget,
  CombiningList,
  equals,
  isMap,
  type JsonList,
  LazyObject,
  ListValue,
  listItem,
  listItems,
  listSize,
  mapGet,
  type Value,
} from '../../cel/index.js';

/** A list in which each element occurs once, in no order. */
export class SetList extends CombiningList {
  equalTo(other: ListValue | JsonList, budget: Budget): boolean {
    if (listSize(other) !== this.items.length) return false;
    const index = new ValueIndex(this.items, budget);
    return listItems(other).every((item) => index.has(item));
  }

  plus(other: ListValue | JsonList, budget: Budget): ListValue {
    const index = new ValueIndex(this.items, budget);
    budget.charge(this.items.length);
    return new SetList([...this.items, ...listItems(other).filter((item) => !index.has(item))]);
  }
}

/** A list in which each element has different key values, in no order. */
export class KeyedList extends CombiningList {
  constructor(
    items: readonly Value[],
    private readonly keys: readonly string[],
  ) {
    super(items);
  }

  equalTo(other: ListValue | JsonList, budget: Budget): boolean {
    if (listSize(other) !== this.items.length) return false;
    const byKey = this.index(budget);
    for (let i = 0; i < listSize(other); i++) {
      const item = listItem(other, i);
      const own = byKey.get(this.keyOf(item, budget));
      if (own === undefined || !equals(this.items[own] as Value, item, budget)) return false;
    }
    return true;
  }

  plus(other: ListValue | JsonList, budget: Budget): ListValue {
    const byKey = this.index(budget);
    const items = [...this.items];
    for (const item of listItems(other)) {
      const key = this.keyOf(item, budget);
      const at = byKey.get(key);
      if (at !== undefined) items[at] = item;
      else {
        byKey.set(key, items.length);
        items.push(item);
      }
    }
    return new KeyedList(items, this.keys);
  }

  private index(budget: Budget): Map<string, number> {
    return new Map(this.items.map((item, i) => [this.keyOf(item, budget), i]));
  }

  private keyOf(item: Value, budget: Budget): string {
    budget.charge(1 + this.keys.length);
    const fieldOf = (name: string): Value | undefined =>
      item instanceof LazyObject ? item.get(name, budget) : isMap(item) ? mapGet(item, name) : undefined;
    return JSON.stringify(this.keys.map((name) => scalarText(fieldOf(name) ?? null)));
  }
}

/** Finds equal values: scalars by a string form, others one by one. */
class ValueIndex {
  private readonly scalars = new Set<string>();
  private readonly others: Value[] = [];

  constructor(
    items: readonly Value[],
    private readonly budget: Budget,
  ) {
    for (const item of items) {
      budget.charge(1);
      const text = scalarText(item);
      if (text === undefined) this.others.push(item);
      else this.scalars.add(text);
    }
  }

  has(item: Value): boolean {
    this.budget.charge(1);
    const text = scalarText(item);
    if (text !== undefined) return this.scalars.has(text);
    return this.others.some((other) => equals(other, item, this.budget));
  }
}

/** A string that is the same only for equal scalars; undefined for values that are not scalars. */
function scalarText(value: Value): string | undefined {
  if (typeof value === 'string') return `"${value}`;
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === null ? 'null' : undefined;
}
