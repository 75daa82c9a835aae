import { type Quantity, quantityOf, quantitySign } from '../../base/machinery/values/quantity.js';
import type { Container } from '../apis/core/v1/container.types.js';
import type { PodSpec } from '../apis/core/v1/pod-spec.types.js';
import type { ResourceList } from '../apis/core/v1/resources.types.js';
import { addAmount, addAmounts, raiseAmounts } from './amounts.js';

/** Resources that a pod may request as a whole, instead of the sum of its containers. */
const podLevelNames = ['cpu', 'memory'];
const isPodLevel = (name: string) => podLevelNames.includes(name) || name.startsWith('hugepages-');

type Part = 'requests' | 'limits';

/** The amounts of a list of resources, exact. */
export function amountsOf(list: ResourceList | undefined): Map<string, Quantity> {
  return new Map(Object.entries(list ?? {}).map(([name, value]) => [name, quantityOf(value)]));
}

/**
 * The most that the containers of a pod request at any one time: the containers together with the sidecars, or one of
 * the other init containers with the sidecars that were started before it. Without the pod's overhead.
 */
export function containerTotals(spec: PodSpec, part: Part): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const { resources } of spec.containers ?? []) addAmounts(total, amountsOf(resources?.[part]));
  const sidecars = new Map<string, Quantity>();
  const peak = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    const own = amountsOf(container.resources?.[part]);
    if (isSidecar(container)) {
      addAmounts(total, own);
      addAmounts(sidecars, own);
      raiseAmounts(peak, sidecars);
    } else {
      addAmounts(own, sidecars);
      raiseAmounts(peak, own);
    }
  }
  raiseAmounts(total, peak);
  return total;
}

/** What a pod requests: the totals of its containers or its own requests, and its overhead. */
export function podTotals(spec: PodSpec, part: Part): Map<string, Quantity> {
  const total = containerTotals(spec, part);
  for (const [name, amount] of amountsOf(spec.resources?.[part])) {
    if (isPodLevel(name)) total.set(name, amount);
  }
  for (const [name, amount] of amountsOf(spec.overhead)) {
    // A missing limit stays missing.
    const limit = total.get(name);
    if (part === 'requests' || (limit !== undefined && quantitySign(limit) !== 0)) addAmount(total, name, amount);
  }
  return total;
}

/** An init container that keeps running alongside the others. */
export function isSidecar({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean {
  return restartPolicy === 'Always';
}
