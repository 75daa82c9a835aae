import { getOwn, isObject, type JsonObject, setOwn } from '../patch/json-value.js';
import { memberView } from './compare.js';
import { asMember, emptySet, type FieldSet, isEmptySet, isMember, leaf, makeNode } from './field-set.js';
import { elementOf, indexElements } from './list-elements.js';
import { fieldElement, type PathElement, self } from './path-element.js';
import type { StructView, TypeView } from './type-view.js';

type Children = Record<PathElement, FieldSet>;

/**
 * The paths that applying an object claims: its values, the elements of its lists and maps, and fields given as null or
 * empty. The surrounding structs and lists are not claimed.
 */
export function claimedPaths(view: StructView, object: JsonObject): FieldSet {
  return claimed(view, object) ?? emptySet;
}

/** The claims below a value, or undefined when there are none. */
function claimed(view: TypeView, value: unknown): FieldSet | undefined {
  if (view.kind === 'untracked') return undefined;
  if (view.kind === 'leaf') return leaf;
  const children: Children = {};
  if (view.kind === 'keyed' || view.kind === 'set') {
    if (!Array.isArray(value)) return undefined;
    for (const [element, item] of indexElements(view, value)) {
      children[element] = asMember(view.kind === 'set' ? undefined : claimed(view.element, item));
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const member = memberView(view, name);
      const below = claimed(member, value[name]);
      const itself = member.kind !== 'untracked' && (!isDeclared(view, name) || isBlank(value[name]));
      if (below !== undefined || itself) children[fieldElement(name)] = itself ? asMember(below) : (below ?? leaf);
    }
  } else {
    return view.kind === 'any' ? leaf : undefined;
  }
  return isEmptySet(children) ? undefined : makeNode(children);
}

function isDeclared(view: TypeView, name: string): boolean {
  return view.kind === 'struct' && view.fields.has(name);
}

function isBlank(value: unknown): boolean {
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

/** The set, plus every declared field on the paths to its members. */
export function withFieldsOnTheWay(view: TypeView, set: FieldSet): FieldSet {
  const result: Children = {};
  for (const element in set) {
    const child = set[element] as FieldSet;
    if (element === self || isEmptySet(child)) {
      result[element] = child;
      continue;
    }
    const below = withFieldsOnTheWay(elementView(view, element), child);
    result[element] = element.startsWith('f:') && isDeclared(view, element.slice(2)) ? asMember(below) : below;
  }
  return result;
}

/** Turns the owners of parts into owners of the whole, where the type now treats it as one value. */
export function fitToType(view: TypeView, set: FieldSet): FieldSet {
  const result: Children = {};
  for (const element in set) {
    const child = set[element] as FieldSet;
    const below = elementView(view, element);
    result[element] = element === self || below.kind === 'leaf' ? leaf : fitToType(below, child);
  }
  return result;
}

function elementView(view: TypeView, element: PathElement): TypeView {
  if (view.kind === 'keyed') return view.element;
  if (view.kind === 'struct' || view.kind === 'map') return memberView(view, element.slice(2));
  return { kind: 'any' };
}

/**
 * The object without the members of the set. Each member is removed with everything below it; a map or list that
 * becomes empty becomes null. Does not change the argument.
 */
export function removePaths(view: TypeView, value: unknown, set: FieldSet): unknown {
  if (isEmptySet(set) || view.kind === 'leaf' || view.kind === 'untracked') return value;
  if (view.kind === 'keyed' || view.kind === 'set') {
    return Array.isArray(value) ? removeElements(view, value, set) : value;
  }
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = { ...value };
  for (const element in set) {
    const name = element.slice(2);
    const below = set[element] as FieldSet;
    if (element === self || getOwn(result, name) === undefined) continue;
    if (isMember(below)) delete result[name];
    else setOwn(result, name, removePaths(memberView(view, name), result[name], below));
  }
  return Object.keys(result).length === 0 ? null : result;
}

function removeElements(
  view: Extract<TypeView, { kind: 'keyed' | 'set' }>,
  items: readonly unknown[],
  set: FieldSet,
): readonly unknown[] | null {
  const result: unknown[] = [];
  for (const item of items) {
    const below = set[elementOf(view, item)];
    if (below === undefined) result.push(item);
    else if (!isMember(below)) result.push(view.kind === 'set' ? item : removePaths(view.element, item, below));
  }
  return result.length === 0 ? null : result;
}
