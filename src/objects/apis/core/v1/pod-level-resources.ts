import { addQuantities, compareQuantities, formatQuantity } from '../../../../base/machinery/values/quantity.js';
import type { Container } from './container.types.js';
import type { PodSpec } from './pod-spec.types.js';

/** Whether the containers of a pod can share an amount of the resource. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
}

/**
 * What the containers of a pod request together: the sum of those that run at the same time, or the request of an init
 * container, if that is more.
 */
export function requestsOfContainers(spec: PodSpec): Map<string, string> {
  const total = new Map<string, string>();
  const add = (into: Map<string, string>, { resources }: Pick<Container, 'resources'>) => {
    for (const [name, amount] of Object.entries(resources.requests ?? {})) {
      const before = into.get(name);
      into.set(name, before === undefined ? amount : formatQuantity(addQuantities(before, amount)));
    }
  };
  for (const container of spec.containers ?? []) add(total, container);
  const beside = new Map<string, string>();
  for (const container of spec.initContainers ?? []) {
    if (container.restartPolicy === 'Always') {
      add(total, container);
      add(beside, container);
      continue;
    }
    const alone = new Map(beside);
    add(alone, container);
    for (const [name, amount] of alone) {
      const most = total.get(name);
      if (most === undefined || compareQuantities(most, amount) < 0) total.set(name, amount);
    }
  }
  return total;
}

/**
 * Fills in the values that a pod with pod-level resources leaves open: requests are those of its containers, or else
 * its limits. Changes `spec`.
 */
export function applyPodLevelDefaults(spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined || (resources.limits === undefined && resources.requests === undefined)) return;
  const requests = { ...resources.requests };
  for (const [name, amount] of requestsOfContainers(spec)) {
    if (isPodLevelResource(name)) requests[name] ??= amount;
  }
  for (const [name, amount] of Object.entries(resources.limits ?? {})) requests[name] ??= amount;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}
