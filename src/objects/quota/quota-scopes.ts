import type { ApiObject } from '../../base/machinery/api-object.js';
import type { ResourceQuotaSpec } from '../apis/core/v1/resource-quota.types.js';
import type { ScopeRequirement, UsageEvaluator } from './usage-evaluator.js';

/** Whether a quota counts an object: it does if the object is in all scopes of the quota. */
export function countsObject(spec: ResourceQuotaSpec, evaluator: UsageEvaluator, object: ApiObject): boolean {
  return requirementsOf(spec).every((requirement) => evaluator.isInScope?.(object, requirement) ?? false);
}

/** The requirements of a quota: those of its selector, and `Exists` for each of its scopes. */
export function requirementsOf({ scopes = [], scopeSelector }: ResourceQuotaSpec): ScopeRequirement[] {
  const plain = scopes.map((scopeName): ScopeRequirement => ({ scopeName, operator: 'Exists' }));
  return [...plain, ...(scopeSelector?.matchExpressions ?? [])];
}
