import { formatElement, normalizeElement, type PathElement, self, sortElements } from './path-element.js';

/**
 * A set of field paths, in exactly the form of FieldsV1 in `metadata.managedFields`, so stored sets need no parsing. It
 * is a tree of path elements: a node without children is a member of the set, and a node with children is a member if
 * it has a child `.`. The root is never a member: `{}` is the empty set. Sets are immutable; operations share unchanged
 * parts and return their first argument when nothing changes.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

type MutableSet = Record<PathElement, FieldSet>;

export const emptySet: FieldSet = Object.freeze({});
/** A member node without children. */
export const leaf: FieldSet = emptySet;

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether a node (not the root) is a member of the set. */
export function isMember(node: FieldSet): boolean {
  return self in node || isEmptySet(node);
}

/** The node as a member of the set, with its children. */
export function asMember(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return leaf;
  return isMember(node) ? node : { [self]: leaf, ...node };
}

/** Builds a node from children in any order. */
export function makeNode(children: Readonly<Record<PathElement, FieldSet>>): FieldSet {
  const elements = Object.keys(children);
  if (elements.length < 2) return children;
  const node: MutableSet = {};
  for (const element of sortElements(elements)) node[element] = children[element] as FieldSet;
  return node;
}

/** The members of either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmptySet(a)) return b;
  return isEmptySet(b) ? a : unionNodes(a, b);
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  // A node without children is a member; once it gets children, it needs the child `.` to stay one.
  if (isEmptySet(b)) return asMember(a);
  if (isEmptySet(a)) return asMember(b);
  let result: MutableSet | undefined;
  let grown = false;
  for (const element in b) {
    const before = a[element];
    const after = before === undefined ? (b[element] as FieldSet) : unionNodes(before, b[element] as FieldSet);
    if (after === before) continue;
    result ??= { ...a };
    result[element] = after;
    grown ||= before === undefined;
  }
  if (result === undefined) return a;
  return grown ? makeNode(result) : result;
}

/** What a subtracted member removes below itself: nothing, everything, or everything if it is a leaf. */
type Reach = 'none' | 'all' | 'leaves';

/** The members of `a` that are not members of `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtractChildren(a, b, 'none') ?? emptySet;
}

/** The members of `a` that are neither members of `b` nor below a member of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtractChildren(a, b, 'all') ?? emptySet;
}

/** The members of `a` that are neither members of `b` nor below a member of `b` that has no children. */
export function leafDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtractChildren(a, b, 'leaves') ?? emptySet;
}

function subtractNodes(a: FieldSet, b: FieldSet, reach: Reach): FieldSet | undefined {
  const taken = isMember(b);
  if (taken && (reach === 'all' || (reach === 'leaves' && isEmptySet(b)))) return undefined;
  if (isEmptySet(a)) return taken ? undefined : a;
  const rest = subtractChildren(a, b, reach);
  if (rest === undefined || !taken) return rest;
  return isEmptySet(rest) ? undefined : withoutElement(rest, self);
}

/** Removes the members of `b` below this node; undefined when nothing is left. */
function subtractChildren(a: FieldSet, b: FieldSet, reach: Reach): FieldSet | undefined {
  let result: MutableSet | undefined;
  for (const element in b) {
    const before = a[element];
    if (element === self || before === undefined) continue;
    const after = subtractNodes(before, b[element] as FieldSet, reach);
    if (after === before) continue;
    result ??= { ...a };
    if (after === undefined) delete result[element];
    else result[element] = after;
  }
  return result === undefined ? a : shrunk(result);
}

function withoutElement(node: FieldSet, element: PathElement): FieldSet | undefined {
  if (!(element in node)) return node;
  const result: MutableSet = { ...node };
  delete result[element];
  return isEmptySet(result) ? undefined : result;
}

/**
 * Normalises a node after a removal: undefined when nothing is left, a plain leaf when only the node itself is left.
 */
function shrunk(node: FieldSet): FieldSet | undefined {
  let children = 0;
  for (const element in node) {
    if (element !== self) return node;
    children++;
  }
  return children === 0 ? undefined : leaf;
}

/** The members of both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return intersectChildren(a, b) ?? emptySet;
}

function intersectNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const children = intersectChildren(a, b);
  return isMember(a) && isMember(b) ? asMember(children) : children;
}

function intersectChildren(a: FieldSet, b: FieldSet): FieldSet | undefined {
  let result: MutableSet | undefined;
  for (const element in a) {
    const other = b[element];
    if (element === self || other === undefined) continue;
    const both = intersectNodes(a[element] as FieldSet, other);
    if (both !== undefined) {
      result ??= {};
      result[element] = both;
    }
  }
  return result;
}

/** Whether both sets contain the same paths. Spellings must be normalised; the order does not matter. */
export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  let count = 0;
  for (const element in a) {
    const other = b[element];
    if (other === undefined || !equalSets(a[element] as FieldSet, other)) return false;
    count++;
  }
  for (const _ in b) count--;
  return count === 0;
}

/**
 * Every member in the form of messages (`.spec.ports[port=80].name`): at each level the members first, then deeper
 * ones.
 */
export function formatPaths(set: FieldSet): string[] {
  const paths: string[] = [];
  collectPaths(set, '', paths);
  return paths;
}

function collectPaths(node: FieldSet, prefix: string, into: string[]): void {
  const elements = Object.keys(node).filter((element) => element !== self);
  for (const element of elements) {
    if (isMember(node[element] as FieldSet)) into.push(prefix + formatElement(element));
  }
  for (const element of elements) collectPaths(node[element] as FieldSet, prefix + formatElement(element), into);
}

/** Deeper sets than this are refused. */
const maxDepth = 200;

/**
 * Parses a client's set into the canonical spelling and order that the operations expect; undefined when it is not a
 * set.
 */
export function parseFieldSet(json: unknown): FieldSet | undefined {
  return parseNode(json, 0);
}

function parseNode(json: unknown, depth: number): FieldSet | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || depth > maxDepth) return undefined;
  const children: MutableSet = {};
  for (const key of Object.keys(json)) {
    const element = normalizeElement(key);
    const child = parseNode((json as Record<string, unknown>)[key], depth + 1);
    if (element === undefined || child === undefined) return undefined;
    const twice = children[element];
    children[element] = twice === undefined ? child : unionNodes(twice, child);
  }
  return shrunk(makeNode(children)) ?? leaf;
}
