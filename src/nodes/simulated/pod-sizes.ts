import { isDeepStrictEqual } from 'node:util';
import {
  addQuantities,
  formatQuantity,
  quantityMilliValue,
  quantityValue,
} from '../../base/machinery/values/quantity.js';
import type { Container } from '../../objects/apis/core/v1/container.types.js';
import type { ContainerStatus } from '../../objects/apis/core/v1/container-status.types.js';
import type { PodStatus } from '../../objects/apis/core/v1/pod.types.js';
import { isPodLevelResource, requestsOfContainers } from '../../objects/apis/core/v1/pod-level-resources.js';
import type { PodSpec } from '../../objects/apis/core/v1/pod-spec.types.js';
import type { ResourceRequirements } from '../../objects/apis/core/v1/resources.types.js';

type SizedContainer = Pick<Container, 'name' | 'resources' | 'resizePolicy' | 'restartPolicy'>;

/** The resources that a pod and its containers request from their node. */
export interface PodSizes {
  readonly containers: readonly SizedContainer[];
  readonly initContainers: readonly SizedContainer[];
  /** Resources of all containers together. */
  readonly resources: ResourceRequirements | undefined;
  readonly overhead: PodSpec['overhead'];
}

/** Amounts that a pod requests: thousandths of a CPU, and bytes. */
export interface Requests {
  readonly cpu: number;
  readonly memory: number;
}

/** Reads the spec of a pod as the API sends it. */
export function sizesOf({ containers, initContainers, resources, overhead }: PodSpec): PodSizes {
  const sized = (all: readonly Container[] | null | undefined) =>
    (all ?? []).map(({ name, resources: own, resizePolicy, restartPolicy }) => ({
      name,
      resources: own ?? {},
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    }));
  return { containers: sized(containers), initContainers: sized(initContainers), resources, overhead };
}

/**
 * The resources of a pod's containers according to its status; where the status lacks them, those that the containers
 * want.
 */
export function reportedSizes(wanted: PodSizes, status: PodStatus | undefined): PodSizes {
  const reported = (all: readonly SizedContainer[], statuses: readonly ContainerStatus[] | undefined) =>
    all.map((container) => {
      const found = statuses?.find(({ name }) => name === container.name)?.resources;
      return found === undefined ? container : { ...container, resources: found };
    });
  return {
    ...wanted,
    containers: reported(wanted.containers, status?.containerStatuses),
    initContainers: reported(wanted.initContainers, status?.initContainerStatuses),
    resources: wanted.resources === undefined ? undefined : (status?.resources ?? wanted.resources),
  };
}

export function areSameSizes(a: PodSizes, b: PodSizes): boolean {
  const amounts = ({ containers, initContainers, resources }: PodSizes) => [
    [...containers, ...initContainers].map(({ name, resources: { requests = {}, limits = {} } }) => [
      name,
      requests,
      limits,
    ]),
    resources?.requests,
    resources?.limits,
  ];
  return a === b || isDeepStrictEqual(amounts(a), amounts(b));
}

/** The resources of its node that a pod occupies. */
export function requestsOf({ containers, initContainers, resources, overhead }: PodSizes): Requests {
  const total = requestsOfContainers({ containers, initContainers } as unknown as PodSpec);
  for (const [name, amount] of Object.entries(resources?.requests ?? {})) {
    if (isPodLevelResource(name)) total.set(name, amount);
  }
  for (const [name, amount] of Object.entries(overhead ?? {})) {
    total.set(name, formatQuantity(addQuantities(total.get(name) ?? '0', amount)));
  }
  return { cpu: quantityMilliValue(total.get('cpu') ?? '0'), memory: quantityValue(total.get('memory') ?? '0') };
}

/** The names of the containers that restart to get other amounts, by their policies. */
export function restartedBy(from: PodSizes, to: PodSizes): readonly string[] {
  const before = new Map([...from.containers, ...from.initContainers].map((each) => [each.name, each]));
  return [...to.containers, ...to.initContainers].flatMap(({ name, resources, resizePolicy }) => {
    const old = before.get(name)?.resources;
    const needsIt = (resizePolicy ?? []).some(
      ({ resourceName, restartPolicy }) =>
        restartPolicy === 'RestartContainer' &&
        (resources.requests?.[resourceName] !== old?.requests?.[resourceName] ||
          resources.limits?.[resourceName] !== old?.limits?.[resourceName]),
    );
    return needsIt ? [name] : [];
  });
}
