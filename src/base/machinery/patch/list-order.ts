import { isObject } from './json-value.js';

/** Identifies an element of a list: by the value of the merge key, or by the element itself in a list of scalars. */
export type ElementKey = (element: unknown) => unknown;

/** Returns the function that identifies objects by a merge key. */
export function itemKeyOf(mergeKey: string | undefined): ElementKey {
  return mergeKey === undefined
    ? (element) => element
    : (element) => (isObject(element) ? element[mergeKey] : undefined);
}

/** Positions by key; for equal keys, the first one. */
export function positions(list: readonly unknown[], key: ElementKey): Map<unknown, number> {
  const found = new Map<unknown, number>();
  list.forEach((element, i) => {
    const k = key(element);
    if (!found.has(k)) found.set(k, i);
  });
  return found;
}

/**
 * Orders a merged list. Elements in `order` follow it, the others follow the live list. Between them, an element that
 * only the live list has comes before a listed element if it did so in the live list, otherwise after it. So elements
 * new to the live list come as early as possible.
 */
export function orderMerged(
  merged: readonly unknown[],
  order: readonly unknown[],
  live: readonly unknown[],
  key: ElementKey,
): unknown[] {
  const wanted = positions(order, key);
  const before = positions(live, key);
  const byPosition = (places: Map<unknown, number>) => (a: unknown, b: unknown) =>
    (places.get(key(a)) ?? Number.POSITIVE_INFINITY) - (places.get(key(b)) ?? Number.POSITIVE_INFINITY) || 0;
  const named = merged.filter((element) => wanted.has(key(element))).sort(byPosition(wanted));
  const others = merged.filter((element) => !wanted.has(key(element))).sort(byPosition(before));

  const result: unknown[] = [];
  let next = 0;
  for (const element of named) {
    const place = before.get(key(element)) ?? -1;
    while (next < others.length && (before.get(key(others[next])) ?? Number.POSITIVE_INFINITY) < place) {
      result.push(others[next++]);
    }
    result.push(element);
  }
  return result.concat(others.slice(next));
}
