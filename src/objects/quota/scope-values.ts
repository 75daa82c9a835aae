import type { ScopeRequirement } from './usage-evaluator.js';

/** Whether the names that an object has in a scope (classes) meet a requirement. */
export function matchesName({ operator, values = [] }: ScopeRequirement, names: readonly string[]): boolean {
  switch (operator) {
    case 'Exists':
      return names.length > 0;
    case 'DoesNotExist':
      return names.length === 0;
    case 'In':
      return names.some((name) => values.includes(name));
    case 'NotIn':
      return !names.some((name) => values.includes(name));
    default:
      return false;
  }
}
