import type { ApiObject } from '../../base/machinery/api-object.js';
import { type Quantity, wholeQuantity } from '../../base/machinery/values/quantity.js';
import { parseTime } from '../../base/machinery/values/time.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import { isHugePages } from '../apis/core/v1/huge-pages.js';
import type { Pod } from '../apis/core/v1/pod.types.js';
import { isPodLevelResource } from '../apis/core/v1/pod-level-resources.js';
import { podQosClass } from '../apis/core/v1/pod-qos.js';
import type { PodSpec } from '../apis/core/v1/pod-spec.types.js';
import { isNativeResource } from '../apis/core/v1/validation/resources.validation.js';
import type { Amounts } from './amounts.js';
import { amountsOf, podTotals } from './pod-resources.js';
import { matchesName } from './scope-values.js';
import type { ScopeRequirement, UsageEvaluator } from './usage-evaluator.js';

const computeNames: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** The amounts that every container must specify if a quota limits them. */
const demandedNames: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'requests.cpu',
  'requests.memory',
  'limits.cpu',
  'limits.memory',
]);
const plainNames: ReadonlySet<string> = new Set([
  'pods',
  'count/pods',
  ...computeNames,
  ...[...computeNames].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

/** Usage of pods. A pod that has finished, or whose grace period is over, only counts as an object. */
export function podUsage(names: VendorNames): UsageEvaluator {
  return {
    measures: (name) =>
      plainNames.has(name) ||
      isHugePages(name) ||
      name.startsWith('requests.hugepages-') ||
      (name.startsWith('requests.') && !isNativeResource(name, names)),

    usage(object, now) {
      const usage = new Map([['count/pods', wholeQuantity(1)]]);
      if (!isActive(object as Pod & ApiObject, now)) return usage;
      usage.set('pods', wholeQuantity(1));
      const { spec } = object as Pod & ApiObject;
      setComputeUsage(usage, podTotals(spec, 'requests'), podTotals(spec, 'limits'), names);
      return usage;
    },

    mayRiseBy: (subresource, object, old) =>
      subresource === '' || subresource === 'resize' || (subresource === 'status' && isRevived(object, old)),

    isInScope: (object, requirement) => isInScope((object as Pod & ApiObject).spec, requirement),

    missing(object, wanted) {
      const { spec } = object as Pod & ApiObject;
      const demanded = wanted.filter((name) => demandedNames.has(name));
      // Release 1.37 demands nothing of a pod whose containers share amounts.
      if (demanded.length === 0 || sharesAmounts(spec)) return [];
      const missing = new Map<string, Set<string>>();
      for (const { name: container, resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
        const own = new Map<string, Quantity>();
        setComputeUsage(own, amountsOf(resources?.requests), amountsOf(resources?.limits), names);
        for (const name of demanded) {
          if (!own.has(name)) missing.set(name, (missing.get(name) ?? new Set()).add(container));
        }
      }
      return [...missing]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, containers]) => {
          return `${name} for: ${[...containers].sort().join(',')}`;
        });
    },

    endsAt(object) {
      const { metadata, status } = object as Pod & ApiObject;
      return hasEnded(status?.phase) ? undefined : endOf(metadata);
    },
  };
}

function sharesAmounts({ resources }: PodSpec): boolean {
  return Object.keys({ ...resources?.requests, ...resources?.limits }).some(isPodLevelResource);
}

function hasEnded(phase: string | undefined): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

/**
 * Whether a status update shows that a finished pod runs again. Other status updates of nodes must not wait for quotas.
 */
function isRevived(object: ApiObject, old: ApiObject): boolean {
  return hasEnded((old as Pod & ApiObject).status?.phase) && !hasEnded((object as Pod & ApiObject).status?.phase);
}

/**
 * When a pod that is being deleted stops counting: at the end of its grace period, because a node that is gone never
 * confirms that the pod has stopped.
 */
function endOf({ deletionTimestamp, deletionGracePeriodSeconds }: ApiObject['metadata']): number | undefined {
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return undefined;
  return parseTime(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}

function isActive({ metadata, status }: Pod & ApiObject, now: number): boolean {
  const end = endOf(metadata);
  return !hasEnded(status?.phase) && (end === undefined || now <= end);
}

/** Records requests and limits under the names that quotas use. */
function setComputeUsage(usage: Map<string, Quantity>, requests: Amounts, limits: Amounts, names: VendorNames): void {
  for (const [name, amount] of requests) {
    if (computeNames.has(name) || isHugePages(name)) {
      usage.set(name, amount);
      usage.set(`requests.${name}`, amount);
    } else if (!isNativeResource(name, names)) usage.set(`requests.${name}`, amount);
  }
  for (const [name, amount] of limits) if (computeNames.has(name)) usage.set(`limits.${name}`, amount);
}

function isInScope(spec: PodSpec, requirement: ScopeRequirement): boolean {
  switch (requirement.scopeName) {
    case 'Terminating':
      return isTerminating(spec);
    case 'NotTerminating':
      return !isTerminating(spec);
    case 'BestEffort':
      return podQosClass(spec) === 'BestEffort';
    case 'NotBestEffort':
      return podQosClass(spec) !== 'BestEffort';
    case 'PriorityClass':
      return matchesName(requirement, spec.priorityClassName ? [spec.priorityClassName] : []);
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(spec);
    default:
      return false;
  }
}

function isTerminating({ activeDeadlineSeconds }: PodSpec): boolean {
  return activeDeadlineSeconds !== undefined && Number(activeDeadlineSeconds) >= 0;
}

function hasCrossNamespaceAffinity({ affinity }: PodSpec): boolean {
  const sorts = [affinity?.podAffinity, affinity?.podAntiAffinity];
  const terms = sorts.flatMap((sort) => [
    ...(sort?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(sort?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
  return terms.some(
    ({ namespaces, namespaceSelector }) => (namespaces?.length ?? 0) > 0 || namespaceSelector !== undefined,
  );
}
