import { getOwn, isObject, type JsonObject } from '../patch/json-value.js';
import { compareValues, keyElement, keyPair, type PathElement, valueElement } from './path-element.js';
import type { KeyedView } from './type-view.js';

/** The path element of a list element. Missing keys without a default are left out. */
export function elementOf(view: KeyedView | { readonly kind: 'set' }, item: unknown): PathElement {
  if (view.kind === 'set') return valueElement(item);
  const object: JsonObject = isObject(item) ? item : {};
  let pairs = '';
  for (const { name, default: fallback } of view.keys) {
    const value = getOwn(object, name) ?? fallback;
    if (value !== undefined) pairs += `${pairs === '' ? '' : ','}${keyPair(name, value)}`;
  }
  return keyElement(pairs);
}

/**
 * The items of a list in the order of their path elements, found without building the elements; undefined when an item
 * lacks a key, or several have the same keys.
 */
export function inElementOrder(view: KeyedView, items: readonly unknown[]): readonly JsonObject[] | undefined {
  for (const item of items) {
    if (!isObject(item)) return undefined;
    for (const { name, default: fallback } of view.keys) if (!isPlain(item[name] ?? fallback)) return undefined;
  }
  const objects = items as readonly JsonObject[];
  if (isAscending(view, objects)) return objects;
  const sorted = [...objects].sort((a, b) => compareItems(view, a, b));
  return isAscending(view, sorted) ? sorted : undefined;
}

function isAscending(view: KeyedView, items: readonly JsonObject[]): boolean {
  for (let i = 1; i < items.length; i++) {
    if (compareItems(view, items[i - 1] as JsonObject, items[i] as JsonObject) >= 0) return false;
  }
  return true;
}

function compareItems(view: KeyedView, a: JsonObject, b: JsonObject): number {
  for (const { name, default: fallback } of view.keys) {
    const order = compareValues(a[name] ?? fallback, b[name] ?? fallback);
    if (order !== 0) return order;
  }
  return 0;
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
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
