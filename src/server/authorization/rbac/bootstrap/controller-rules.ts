import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { clusterControllerRules } from './cluster-controller-rules.js';
import { nodeControllerRules } from './node-controller-rules.js';
import type { RuleData } from './role-data.js';
import { serviceControllerRules } from './service-controller-rules.js';
import { volumeControllerRules } from './volume-controller-rules.js';
import { workloadControllerRules } from './workload-controller-rules.js';

/**
 * The rules of each controller, by the name of its service account in the system's namespace, in the order of these
 * names. The ClusterRole and its binding are called `system:controller:<name>`.
 */
export function controllerRules(names: VendorNames): ReadonlyMap<string, readonly RuleData[]> {
  const rules = {
    ...workloadControllerRules,
    ...nodeControllerRules,
    ...volumeControllerRules,
    ...serviceControllerRules,
    ...clusterControllerRules(names),
  };
  return new Map(Object.entries(rules).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
