import { getOwn, isObject, type JsonObject } from '../patch/json-value.js';
import { keyElement, type PathElement, valueElement } from './path-element.js';
import type { KeyedView } from './type-view.js';

/** The path element of a list element. Missing keys without a default are left out. */
export function elementOf(view: KeyedView | { readonly kind: 'set' }, item: unknown): PathElement {
  if (view.kind === 'set') return valueElement(item);
  const object: JsonObject = isObject(item) ? item : {};
  const pairs: [string, unknown][] = [];
  for (const key of view.keys) {
    const value = getOwn(object, key.name) ?? key.default;
    if (value !== undefined) pairs.push([key.name, value]);
  }
  return keyElement(pairs);
}

/** Whether two elements have the same path element; cheaper than building both. */
export function sameElement(view: KeyedView | { readonly kind: 'set' }, a: unknown, b: unknown): boolean {
  if (view.kind === 'set') return a === b;
  if (!isObject(a) || !isObject(b)) return false;
  for (const { name, default: fallback } of view.keys) {
    if ((a[name] ?? fallback) !== (b[name] ?? fallback)) return false;
  }
  return true;
}

/** Elements of one list with the same path element, which a valid list does not have. They count as one value. */
export class Duplicates {
  constructor(readonly items: unknown[]) {}
}

/** The elements by path element, in order of first appearance. */
export function indexElements(
  view: KeyedView | { readonly kind: 'set' },
  items: readonly unknown[],
): Map<PathElement, unknown> {
  const index = new Map<PathElement, unknown>();
  for (const item of items) {
    const element = elementOf(view, item);
    if (!index.has(element)) index.set(element, item);
    else {
      const before = index.get(element);
      // Changed in place: a hostile list may consist of duplicates only.
      if (before instanceof Duplicates) before.items.push(item);
      else index.set(element, new Duplicates([before, item]));
    }
  }
  return index;
}
