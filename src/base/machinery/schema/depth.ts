import { ExactNumber } from '../json/exact-numbers.js';

export { maxDepth } from '../json/nesting.js';

/** How many levels deep a type may contain itself: each level takes several stack frames. */
export const maxSelfNesting = 200;

/** Whether objects and lists are nested more deeply than `limit`. Recurses no deeper than that itself. */
export function exceedsDepth(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) {
    for (const element of value) if (exceedsDepth(element, limit - 1)) return true;
    return false;
  }
  for (const key in value) {
    if (exceedsDepth((value as Record<string, unknown>)[key], limit - 1)) return true;
  }
  return false;
}
