import { deepEqual, getOwn, isObject, type JsonObject } from '../patch/json-value.js';
import { asMember, emptySet, type FieldSet, isEmptySet, leaf, makeNode } from './field-set.js';
import { Duplicates, elementOf, indexElements, inElementOrder, sameElement } from './list-elements.js';
import { fieldElement, type PathElement, self } from './path-element.js';
import type { KeyedView, StructView, TypeView } from './type-view.js';

/** The differences between two objects. */
export interface Comparison {
  /** Paths that are new or changed. New structs, maps and list elements are members themselves. */
  readonly changed: FieldSet;
  /** Removed paths, including everything below them. */
  readonly removed: FieldSet;
}

type Children = Record<PathElement, FieldSet>;
type ListView = KeyedView | { readonly kind: 'set' };
/** The views whose values are compared member by member. */
type ObjectView = StructView | { readonly kind: 'map'; readonly value: TypeView } | { readonly kind: 'any' };

const anyView: TypeView = { kind: 'any' };
const noMembers: JsonObject = {};

/** Compares two objects of the view's type. Equal parts cost a visit but no memory. */
export function compareObjects(view: StructView, before: JsonObject, after: JsonObject): Comparison {
  const walk = new ComparisonWalk();
  walk.objects(view, before, after);
  return { changed: walk.changed ?? emptySet, removed: walk.removed ?? emptySet };
}

/** The view of a member of an object; undeclared fields have the view `any`. */
export function memberView(view: ObjectView, name: string): TypeView {
  if (view.kind === 'struct') return view.fields.get(name) ?? view.others ?? anyView;
  return view.kind === 'map' ? view.value : anyView;
}

/** Each method stores its result in `changed` and `removed`: a node relative to the compared place, or undefined. */
class ComparisonWalk {
  changed: FieldSet | undefined = undefined;
  removed: FieldSet | undefined = undefined;

  private values(view: TypeView, before: unknown, after: unknown): void {
    this.changed = undefined;
    this.removed = undefined;
    if (before === after || view.kind === 'untracked') return;
    if (view.kind === 'leaf') {
      if (!deepEqual(before, after)) this.changed = leaf;
    } else if (view.kind === 'keyed' || view.kind === 'set') {
      if (isListOrNull(before) && isListOrNull(after)) this.lists(view, before ?? [], after ?? []);
      else this.replaced(view, before, after);
    } else if (isObject(before) && isObject(after)) {
      this.objects(view, before, after);
    } else if (view.kind !== 'any' && isObjectOrNull(before) && isObjectOrNull(after)) {
      this.objects(view, before ?? noMembers, after ?? noMembers);
    } else {
      this.replaced(view, before, after);
    }
  }

  /** The values have different forms: removes everything of the old one and adds everything of the new one. */
  private replaced(view: TypeView, before: unknown, after: unknown): void {
    if (deepEqual(before, after)) return;
    const old = wholeSet(view, before);
    this.changed = asMember(wholeSet(view, after));
    this.removed = isEmptySet(old) ? undefined : withoutSelf(old);
  }

  objects(view: ObjectView, before: JsonObject, after: JsonObject): void {
    let changed: Children | undefined;
    let removed: Children | undefined;
    let common = 0;
    for (const name in after) {
      const value = after[name];
      if (value === undefined) continue;
      const old = Object.hasOwn(before, name) ? before[name] : undefined;
      if (old === value) {
        common++;
        continue;
      }
      const member = memberView(view, name);
      if (old === undefined) {
        if (member.kind === 'untracked') continue;
        changed ??= {};
        changed[fieldElement(name)] = wholeSet(member, value);
        continue;
      }
      common++;
      this.values(member, old, value);
      if (this.changed !== undefined) {
        changed ??= {};
        changed[fieldElement(name)] = this.changed;
      }
      if (this.removed !== undefined) {
        removed ??= {};
        removed[fieldElement(name)] = this.removed;
      }
    }
    for (const name in before) if (before[name] !== undefined) common--;
    if (common !== 0) removed = addGone(view, before, after, removed);
    this.changed = changed === undefined ? undefined : makeNode(changed);
    this.removed = removed === undefined ? undefined : makeNode(removed);
  }

  private lists(view: ListView, before: readonly unknown[], after: readonly unknown[]): void {
    this.changed = undefined;
    this.removed = undefined;
    const aligned = sameElements(view, before, after);
    if (!aligned || !this.alignedLists(view, before, after)) this.indexedLists(view, before, after);
  }

  /** Compares lists with the same elements in the same places; false for a list with duplicate elements. */
  private alignedLists(view: ListView, before: readonly unknown[], after: readonly unknown[]): boolean {
    if (view.kind === 'set') return true;
    let changed: Children | undefined;
    let removed: Children | undefined;
    for (let i = 0; i < after.length; i++) {
      this.values(view.element, before[i], after[i]);
      if (this.changed === undefined && this.removed === undefined) continue;
      const element = elementOf(view, after[i]);
      if (changed?.[element] !== undefined || removed?.[element] !== undefined) return false;
      if (this.changed !== undefined) {
        changed ??= {};
        changed[element] = this.changed;
      }
      if (this.removed !== undefined) {
        removed ??= {};
        removed[element] = this.removed;
      }
    }
    this.changed = changed === undefined ? undefined : makeNode(changed);
    this.removed = removed === undefined ? undefined : makeNode(removed);
    return true;
  }

  private indexedLists(view: ListView, before: readonly unknown[], after: readonly unknown[]): void {
    const added = before.length === 0 ? addItems(view, after, {}) : undefined;
    if (added !== undefined) {
      this.changed = added;
      return;
    }
    const changed: Children = {};
    const removed: Children = {};
    const old = indexElements(view, before);
    for (const [element, item] of indexElements(view, after)) {
      if (!old.has(element)) {
        changed[element] = asMember(itemSet(view, item));
        continue;
      }
      const oldItem = old.get(element);
      old.delete(element);
      if (item instanceof Duplicates || oldItem instanceof Duplicates) {
        if (!deepEqual(itemsOf(item), itemsOf(oldItem))) changed[element] = leaf;
      } else if (view.kind === 'keyed') {
        this.values(view.element, oldItem, item);
        if (this.changed !== undefined) changed[element] = this.changed;
        if (this.removed !== undefined) removed[element] = this.removed;
      }
    }
    for (const [element, item] of old) removed[element] = asMember(itemSet(view, item));
    this.changed = isEmptySet(changed) ? undefined : makeNode(changed);
    this.removed = isEmptySet(removed) ? undefined : makeNode(removed);
  }
}

/** Adds the members that no longer exist. */
function addGone(
  view: ObjectView,
  before: JsonObject,
  after: JsonObject,
  removed: Children | undefined,
): Children | undefined {
  let result = removed;
  for (const name in before) {
    if (before[name] === undefined || getOwn(after, name) !== undefined) continue;
    const member = memberView(view, name);
    if (member.kind === 'untracked') continue;
    result ??= {};
    result[fieldElement(name)] = wholeSet(member, before[name]);
  }
  return result;
}

/** Whether two lists have the same elements in the same places. */
function sameElements(view: ListView, before: readonly unknown[], after: readonly unknown[]): boolean {
  if (before.length !== after.length) return false;
  for (let i = 0; i < after.length; i++) if (!sameElement(view, before[i], after[i])) return false;
  return true;
}

function itemsOf(item: unknown): readonly unknown[] {
  return item instanceof Duplicates ? item.items : [item];
}

function itemSet(view: ListView, item: unknown): FieldSet {
  return view.kind === 'set' || item instanceof Duplicates ? leaf : wholeSet(view.element, item);
}

/** The set of a value and everything below it, including structs, maps and elements. Returns a node, not a root. */
function wholeSet(view: TypeView, value: unknown): FieldSet {
  if (view.kind === 'keyed' || view.kind === 'set') {
    if (!Array.isArray(value) || value.length === 0) return leaf;
    const added = addItems(view, value, { [self]: leaf });
    if (added !== undefined) return added;
    const children: Children = {};
    for (const [element, item] of indexElements(view, value)) children[element] = itemSet(view, item);
    return asMember(makeNode(children));
  }
  if (view.kind === 'leaf' || view.kind === 'untracked' || !isObject(value)) return leaf;
  const names: string[] = [];
  for (const name in value) if (value[name] !== undefined) names.push(name);
  // Builds the node in the order of sets, with the node itself as the first member, so that it need not be rebuilt.
  let node: Children | undefined;
  for (const name of inOrder(names)) {
    const member = memberView(view, name);
    if (member.kind === 'untracked') continue;
    node ??= { [self]: leaf };
    node[fieldElement(name)] = wholeSet(member, value[name]);
  }
  return node ?? leaf;
}

/** Most objects have few fields, for which an insertion sort is faster than the built-in sort. */
const fewNames = 12;

function inOrder(names: string[]): string[] {
  if (names.length > fewNames) return names.sort();
  for (let i = 1; i < names.length; i++) {
    const name = names[i] as string;
    let at = i;
    for (; at > 0 && (names[at - 1] as string) > name; at--) names[at] = names[at - 1] as string;
    names[at] = name;
  }
  return names;
}

/** Adds the elements of a new list in their order to a node; undefined for a list that needs the slower way. */
function addItems(view: ListView, items: readonly unknown[], node: Children): FieldSet | undefined {
  if (view.kind !== 'keyed' || items.length === 0) return undefined;
  const ordered = inElementOrder(view, items);
  if (ordered === undefined) return undefined;
  for (const item of ordered) node[elementOf(view, item)] = wholeSet(view.element, item);
  return node;
}

function withoutSelf(node: FieldSet): FieldSet | undefined {
  const { [self]: _self, ...rest } = node;
  return isEmptySet(rest) ? undefined : rest;
}

function isObjectOrNull(value: unknown): value is JsonObject | null {
  return value === null || isObject(value);
}

function isListOrNull(value: unknown): value is readonly unknown[] | null {
  return value === null || Array.isArray(value);
}
