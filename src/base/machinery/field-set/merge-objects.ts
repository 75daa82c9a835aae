import { getOwn, isObject, type JsonObject, setOwn } from '../patch/json-value.js';
import { memberView } from './compare.js';
import { elementOf } from './list-elements.js';
import type { PathElement } from './path-element.js';
import type { StructView, TypeView } from './type-view.js';

type ListView = Extract<TypeView, { kind: 'keyed' | 'set' }>;

/**
 * Merges an applied object into the live one: values and atomic parts come from the applied object; structs, maps and
 * keyed lists merge. Changes neither argument; the result shares parts of both.
 */
export function mergeObjects(view: StructView, live: JsonObject, applied: JsonObject): Record<string, unknown> {
  return mergeMembers(view, live, applied);
}

function mergeMembers(
  view: Exclude<TypeView, ListView | { kind: 'leaf' | 'untracked' }>,
  live: JsonObject,
  applied: JsonObject,
): Record<string, unknown> {
  const result: Record<string, unknown> = { ...live };
  for (const name of Object.keys(applied)) {
    setOwn(result, name, mergeValues(memberView(view, name), getOwn(live, name), applied[name]));
  }
  return result;
}

function mergeValues(view: TypeView, live: unknown, applied: unknown): unknown {
  if (live === undefined || applied === undefined) return applied ?? live;
  switch (view.kind) {
    case 'leaf':
      return applied;
    case 'untracked':
      return applied ?? live;
    case 'keyed':
    case 'set':
      if (!Array.isArray(live) || live.length === 0) return applied;
      return Array.isArray(applied) ? mergeLists(view, live, applied) : live;
    default:
      if (isObject(live) && isObject(applied)) return mergeMembers(view, live, applied);
      // An applied null leaves the members of an object alone, but in free-form values it is an ordinary value.
      return applied === null && view.kind !== 'any' && isObject(live) && Object.keys(live).length > 0 ? live : applied;
  }
}

/**
 * Elements of both lists follow the applied order. Elements that only the live list has stay after the elements that
 * precede them there, as in the newest release: an applier that reorders its own elements does not move those of
 * others, and an unchanged apply of another one changes nothing.
 */
function mergeLists(view: ListView, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const liveElements = live.map((item) => elementOf(view, item));
  const appliedElements = applied.map((item) => elementOf(view, item));
  const liveItems = itemsOf(liveElements, live);
  const isApplied = new Set(appliedElements);
  const shared = appliedElements.filter((element) => liveItems.has(element));
  const result: unknown[] = [];
  const done = new Set<PathElement>();
  let [l, r, s] = [0, 0, 0];
  const takeApplied = () => {
    const element = appliedElements[r] as PathElement;
    const item = applied[r++];
    result.push(view.kind === 'set' ? item : mergeValues(view.element, liveItems.get(element), item));
    done.add(element);
  };
  while (l < live.length || r < applied.length) {
    const liveElement = liveElements[l] as PathElement;
    if (l < live.length && r < applied.length) {
      if (liveElement === appliedElements[r]) {
        takeApplied();
        l++;
        s++;
        continue;
      }
      // The element is inserted when its turn in the applied order comes.
      if (isApplied.has(liveElement) && s < shared.length && shared[s] !== liveElement) {
        l++;
        continue;
      }
    }
    if (l < live.length) {
      if (!isApplied.has(liveElement)) {
        result.push(live[l++]);
        continue;
      }
      if (done.has(liveElement)) l++;
    }
    if (r < applied.length) {
      if (s < shared.length && shared[s] === appliedElements[r]) s++;
      takeApplied();
    }
  }
  return result;
}

/** The items of a list by their elements. For duplicates it is unclear which one is meant. */
function itemsOf(elements: readonly PathElement[], items: readonly unknown[]): ReadonlyMap<PathElement, unknown> {
  const known = new Map<PathElement, unknown>();
  elements.forEach((element, i) => {
    known.set(element, known.has(element) ? undefined : items[i]);
  });
  return known;
}

/**
 * The applied object with canonical spellings of its values (quantities, times), taken from its canonical form. It gets
 * no fields that it did not have.
 */
export function withCanonicalValues(view: TypeView, given: unknown, canonical: unknown): unknown {
  if (given === null || given === undefined || canonical === null || canonical === undefined) return given;
  switch (view.kind) {
    case 'leaf':
      return canonical;
    case 'struct':
    case 'map': {
      if (!isObject(given) || !isObject(canonical)) return given;
      const result: Record<string, unknown> = {};
      for (const name of Object.keys(given)) {
        const value = withCanonicalValues(memberView(view, name), given[name], getOwn(canonical, name));
        setOwn(result, name, value);
      }
      return result;
    }
    case 'keyed': {
      if (!Array.isArray(given) || !Array.isArray(canonical)) return given;
      const { element } = view;
      return given.map((item, i) => withCanonicalValues(element, item, canonical[i]));
    }
    default:
      return given;
  }
}
