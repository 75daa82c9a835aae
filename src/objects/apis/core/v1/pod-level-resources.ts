import { addQuantities, compareQuantities, formatQuantity } from '../../../../base/machinery/values/quantity.js';
import type { Container } from './container.types.js';
import { isHugePages } from './huge-pages.js';
import type { PodSpec } from './pod-spec.types.js';

/** Whether the containers of a pod can share an amount of the resource. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/**
 * What the containers of a pod request together: the sum of those that run at the same time, or the request of an init
 * container, if that is more.
 */
export function requestsOfContainers(spec: PodSpec): Map<string, string> {
  return totalOfContainers(spec, 'requests');
}

/** The limits of the containers of a pod, summed up as in {@link requestsOfContainers}. */
export function limitsOfContainers(spec: PodSpec): Map<string, string> {
  return totalOfContainers(spec, 'limits');
}

/** The limits or requests of the containers of a pod, summed up as in {@link requestsOfContainers}. */
function totalOfContainers(spec: PodSpec, part: 'limits' | 'requests'): Map<string, string> {
  const total = new Map<string, string>();
  const add = (into: Map<string, string>, { resources }: Pick<Container, 'resources'>) => {
    for (const [name, amount] of Object.entries(resources[part] ?? {})) {
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
 * Fills in pod-level requests and limits that are unset, from the totals of the containers, if the pod has any
 * pod-level resources. Called after admission has added its defaults. Changes `spec`.
 */
export function applyPodLevelDefaults(spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined) return;
  const limits = { ...resources.limits };
  const requests = { ...resources.requests };
  if (Object.keys(limits).length === 0 && Object.keys(requests).length === 0) return;
  const limited = limitsOfContainers(spec);
  for (const [name, amount] of limited) {
    if (isHugePages(name) && requests[name] === undefined) limits[name] ??= amount;
  }
  for (const [name, amount] of requestsOfContainers(spec)) {
    if (isPodLevelResource(name) && !isHugePages(name)) requests[name] ??= amount;
  }
  for (const [name, amount] of Object.entries(limits)) if (isPodLevelResource(name)) requests[name] ??= amount;
  const all = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  for (const [name, asked] of Object.entries(requests)) {
    const amount = limited.get(name);
    if (!isPodLevelResource(name) || limits[name] !== undefined || amount === undefined) continue;
    // No pod-level limit: a container without its own limit may use all that the pod can.
    if (all.some((container) => container.resources.limits?.[name] === undefined)) continue;
    limits[name] = compareQuantities(asked, amount) > 0 ? asked : amount;
  }
  if (Object.keys(limits).length > 0) resources.limits = limits;
  if (Object.keys(requests).length > 0) resources.requests = requests;
}
