import { isObject } from './json-value.js';

/** What tells elements of a list apart: the value of the merge key, or the element itself in a list of scalars. */
export type ElementKey = (element: unknown) => unknown;

/** The key of objects with a merge key. */
export function keyOf(mergeKey: string | undefined): ElementKey {
  return mergeKey === undefined
    ? (element) => element
    : (element) => (isObject(element) ? element[mergeKey] : undefined);
}

/** Positions by key; of equal keys the first counts. */
export function positions(list: readonly unknown[], key: ElementKey): Map<unknown, number> {
  const found = new Map<unknown, number>();
  list.forEach((element, i) => {
    const k = key(element);
    if (!found.has(k)) found.set(k, i);
  });
  return found;
}

/**
 * Orders a merged list. Elements that `order` names come in its order, the others in the order of the live list; between
 * the two, an element that only the live list has comes first where the live list had it before the named one, and
 * after it otherwise. So elements that are new to the live list come as early as possible.
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
