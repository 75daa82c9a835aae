import { comparePositions } from '../key-order.js';
import type { ListPosition } from '../storage.interface.js';
import type { KeyFilter } from './ordered-entries.js';

/** Whether the key lies in the scope. */
export function concerns(scope: KeyFilter, key: ListPosition): boolean {
  if (scope.namespace !== undefined && key.namespace !== scope.namespace) return false;
  return scope.name === undefined || key.name === scope.name;
}

/** Whether the key lies in the scope and after `after`. */
export function concernsAfter(scope: KeyFilter, after: ListPosition | undefined, key: ListPosition): boolean {
  return concerns(scope, key) && (after === undefined || comparePositions(key, after) > 0);
}
