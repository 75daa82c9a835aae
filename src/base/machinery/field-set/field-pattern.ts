import { asMember, type FieldSet, isEmptySet, isMember } from './field-set.js';
import { self } from './path-element.js';

/** Paths by their elements; `*` means any element, and `all` everything from there on. */
export interface FieldPattern {
  readonly [element: string]: FieldPattern | 'all';
}

/** The members of a set that are on a path of the pattern, or below the end of a path. */
export function matchingFields(set: FieldSet, pattern: FieldPattern): FieldSet {
  const kept: Record<string, FieldSet> = {};
  for (const element in set) {
    const below = element === self ? undefined : (pattern[element] ?? pattern['*']);
    const node = set[element] as FieldSet;
    if (below === 'all') kept[element] = node;
    else if (below !== undefined) {
      const rest = matchingFields(node, below);
      if (isMember(node)) kept[element] = asMember(rest);
      else if (!isEmptySet(rest)) kept[element] = rest;
    }
  }
  return kept;
}
