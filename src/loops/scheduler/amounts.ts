import { quantityMilliValue, quantityValue } from '../../base/machinery/values/quantity.js';
import type { PodSpec } from '../../objects/apis/core/v1/pod-spec.types.js';
import type { ResourceList } from '../../objects/apis/core/v1/resources.types.js';
import { podTotals } from '../../objects/quota/pod-resources.js';

/**
 * Amounts of resources as plain numbers, for quick sums and comparisons: exact below 2^53, that is for 8 PiB of memory.
 * `others` has the extended resources and huge pages.
 */
export interface SchedulerAmounts {
  readonly milliCpu: number;
  readonly memory: number;
  readonly ephemeralStorage: number;
  readonly others: ReadonlyMap<string, number>;
}

const noOthers: ReadonlyMap<string, number> = new Map();

/** The amounts of a node's list of resources; `pods` is left out. */
export function amountsOfList(list: ResourceList | undefined): SchedulerAmounts {
  return amountsOf(Object.entries(list ?? {}), quantityMilliValue, quantityValue);
}

/** What a pod needs on its node (specification of the field: init containers, sidecars, pod level and overhead count). */
export function podRequests(spec: PodSpec): SchedulerAmounts {
  return amountsOf(podTotals(spec, 'requests'), quantityMilliValue, quantityValue);
}

function amountsOf<Q>(
  entries: Iterable<[string, Q]>,
  milli: (q: Q) => number,
  whole: (q: Q) => number,
): SchedulerAmounts {
  let milliCpu = 0;
  let memory = 0;
  let ephemeralStorage = 0;
  let others: Map<string, number> | undefined;
  for (const [name, quantity] of entries) {
    if (name === 'cpu') milliCpu = milli(quantity);
    else if (name === 'memory') memory = whole(quantity);
    else if (name === 'ephemeral-storage') ephemeralStorage = whole(quantity);
    else if (name !== 'pods') {
      others ??= new Map();
      others.set(name, whole(quantity));
    }
  }
  return { milliCpu, memory, ephemeralStorage, others: others ?? noOthers };
}

/** The assumed request of a container without one when nodes are scored: 100m and 200Mi. */
const assumedRequests = { cpu: '100m', memory: '209715200' };

/** {@link podRequests} for scoring, where every container counts as using something. */
export function scoredRequests(
  spec: PodSpec,
  requests: SchedulerAmounts,
): Pick<SchedulerAmounts, 'milliCpu' | 'memory'> {
  if (spec.resources?.requests !== undefined) return requests;
  const withAssumed = <C extends { resources?: { requests?: ResourceList } }>(container: C): C => ({
    ...container,
    resources: { ...container.resources, requests: { ...assumedRequests, ...container.resources?.requests } },
  });
  const isComplete = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].every(
    ({ resources }) => resources?.requests?.cpu !== undefined && resources.requests.memory !== undefined,
  );
  if (isComplete) return requests;
  const assumed = {
    ...spec,
    containers: (spec.containers ?? []).map(withAssumed),
    initContainers: (spec.initContainers ?? []).map(withAssumed),
  };
  return podRequests(assumed as PodSpec);
}
