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
      // Null says nothing about members, but in free-form values it is an ordinary value.
      return applied === null && view.kind !== 'any' && isObject(live) && Object.keys(live).length > 0 ? live : applied;
  }
}

/** Shared elements follow the applied order; elements that only the live list has keep their places between them. */
function mergeLists(view: ListView, live: readonly unknown[], applied: readonly unknown[]): unknown[] {
  const liveItems = new Map<PathElement, unknown>();
  const liveElements = live.map((item) => elementOf(view, item));
  liveElements.forEach((element, i) => {
    if (!liveItems.has(element)) liveItems.set(element, live[i]);
  });
  const appliedElements = applied.map((item) => elementOf(view, item));
  const shared = new Set(appliedElements);

  const result: unknown[] = [];
  const done = new Set<PathElement>();
  let next = 0;
  appliedElements.forEach((element, i) => {
    // Live elements that the applier does not mention, up to the next one that it does.
    for (; next < live.length; next++) {
      const liveElement = liveElements[next] as PathElement;
      if (!shared.has(liveElement)) result.push(live[next]);
      else if (!done.has(liveElement)) break;
    }
    const item = applied[i];
    result.push(view.kind === 'set' ? item : mergeValues(view.element, liveItems.get(element), item));
    done.add(element);
  });
  for (; next < live.length; next++) if (!shared.has(liveElements[next] as PathElement)) result.push(live[next]);
  return result;
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
