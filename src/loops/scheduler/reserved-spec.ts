import { compareQuantities } from '../../base/machinery/values/quantity.js';
import type { Container } from '../../objects/apis/core/v1/container.types.js';
import type { ContainerStatus } from '../../objects/apis/core/v1/container-status.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { PodSpec } from '../../objects/apis/core/v1/pod-spec.types.js';
import type { ResourceList, ResourceRequirements } from '../../objects/apis/core/v1/resources.types.js';

/**
 * The spec of a pod with the requests for which its node must keep resources free. During a resize, these are the
 * higher of the present and the desired requests; if the node can never carry out the resize, they are the present
 * ones.
 */
export function reservedSpec({ spec, status }: Pod): PodSpec {
  const known = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  if (!spec.nodeName || (known.length === 0 && status?.allocatedResources === undefined)) return spec;
  const isInfeasible = (status.conditions ?? []).some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const byName = new Map(known.map((each) => [each.name, each]));
  let hasChanged = false;
  const reserved = (wanted: ResourceRequirements, has: Pick<ContainerStatus, 'allocatedResources' | 'resources'>) => {
    const { allocatedResources, resources } = has;
    if (allocatedResources === undefined && resources?.requests === undefined) return wanted;
    const requests = highest([isInfeasible ? {} : wanted.requests, allocatedResources, resources?.requests]);
    const isSame = Object.entries(requests).every(([name, amount]) => wanted.requests?.[name] === amount);
    if (isSame) return wanted;
    hasChanged = true;
    return { ...wanted, requests };
  };
  const sized = (container: Container): Container => {
    const status = byName.get(container.name);
    const resources = status === undefined ? container.resources : reserved(container.resources ?? {}, status);
    return resources === container.resources ? container : { ...container, resources };
  };
  const containers = (spec.containers ?? []).map(sized);
  const initContainers = (spec.initContainers ?? []).map((container) =>
    container.restartPolicy === 'Always' ? sized(container) : container,
  );
  const resources = spec.resources === undefined ? undefined : reserved(spec.resources, status);
  if (!hasChanged) return spec;
  return { ...spec, containers, initContainers, ...(resources === undefined ? {} : { resources }) };
}

function highest(lists: readonly (ResourceList | undefined)[]): ResourceList {
  const all: ResourceList = {};
  for (const list of lists) {
    for (const [name, amount] of Object.entries(list ?? {})) {
      const before = all[name];
      if (before === undefined || compareQuantities(before, amount) < 0) all[name] = amount;
    }
  }
  return all;
}
