import type { ApiObject } from '../../base/machinery/api-object.js';
import { quantitySign } from '../../base/machinery/values/quantity.js';
import type { ResourceQuota } from '../apis/core/v1/resource-quota.types.js';
import type { UsageChange } from './charge.js';
import { countsObject, requirementsOf } from './quota-scopes.js';
import type { ScopeRequirement } from './usage-evaluator.js';

/** A resource that may only be used in a namespace with a quota for it: otherwise a write is refused. */
export interface LimitedResource {
  readonly group: string;
  readonly resource: string;
  /** Substrings of the names of limited resources: for example `requests.storage` of a storage class. */
  readonly contains: readonly string[];
  /** Objects in these scopes are limited. */
  readonly scopes: readonly ScopeRequirement[];
}

/** Why a write needs further quotas; undefined if the quotas cover everything that is limited. */
export function uncoveredReason(
  change: UsageChange,
  limited: readonly LimitedResource[],
  quotas: readonly (ResourceQuota & ApiObject)[],
): string | undefined {
  const { evaluator, object, now } = change;
  const covering = quotas.filter(({ spec }) => countsObject(spec, evaluator, object));
  const inScope = limited
    .flatMap(({ scopes }) => scopes)
    .filter((requirement) => evaluator.isInScope?.(object, requirement) ?? false);
  const coveredScopes = new Set(covering.flatMap(({ spec }) => requirementsOf(spec)).map(({ scopeName }) => scopeName));
  const open = inScope.filter(({ scopeName }) => !coveredScopes.has(scopeName));
  if (open.length > 0) return `insufficient quota to match these scopes: [${open.map(requirementText).join(' ')}]`;

  const coveredNames = new Set(covering.flatMap(({ status }) => Object.keys(status.hard ?? {})));
  const parts = limited.flatMap(({ contains }) => contains);
  const names = [...evaluator.usage(object, now)]
    .filter(([name, amount]) => quantitySign(amount) > 0 && parts.some((part) => name.includes(part)))
    .map(([name]) => name)
    .filter((name) => !coveredNames.has(name));
  return names.length === 0 ? undefined : `insufficient quota to consume: ${names.sort().join(',')}`;
}

function requirementText({ scopeName, operator, values = [] }: ScopeRequirement): string {
  return `{${scopeName} ${operator} [${values.join(' ')}]}`;
}
