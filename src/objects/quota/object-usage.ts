import type { GroupResource } from '../../base/machinery/group-version.js';
import { formatGroupResource } from '../../base/machinery/group-version.js';
import { wholeQuantity } from '../../base/machinery/values/quantity.js';
import type { UsageEvaluator } from './usage-evaluator.js';

/** Kinds with a name of their own in quotas, besides `count/<resource>`. */
const named: ReadonlySet<string> = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']);

/**
 * Usage of objects that only count as objects: `count/<resource>.<group>`.
 *
 * @param resources the names under which the objects are served: several for a kind that is in several groups.
 */
export function objectUsage(resources: readonly GroupResource[]): UsageEvaluator {
  const names = resources.map((resource) => `count/${formatGroupResource(resource)}`);
  for (const { group, resource } of resources) if (group === '' && named.has(resource)) names.push(resource);
  const usage = new Map(names.map((name) => [name, wholeQuantity(1)]));
  return {
    measures: (name) => usage.has(name),
    isUniform: true,
    usage: () => usage,
    mayRiseBy: () => false,
  };
}
