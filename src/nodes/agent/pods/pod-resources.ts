import { quantityMilliValue, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

/** Requests and limits of a container or a pod. */
export type Resources = Container['resources'];

/** The resources of a pod that can change while it runs. */
export interface PodResources {
  readonly containers: Readonly<Record<string, Resources>>;
  /** Resources of the pod as a whole, if it declares any. */
  readonly pod?: Resources;
}

const kinds = ['requests', 'limits'] as const;
const names = ['cpu', 'memory'] as const;

export function resourcesOfPod({ spec }: Pod): PodResources {
  const all = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return {
    containers: Object.fromEntries(all.map(({ name, resources }) => [name, resources ?? {}])),
    ...(spec.resources ? { pod: spec.resources } : {}),
  };
}

/** The pod with these resources in its declaration. */
export function withResources(pod: Pod, resources: PodResources): Pod {
  if (isSameForPod(resourcesOfPod(pod), resources)) return pod;
  const renew = (containers: readonly Container[]) =>
    containers.map((each) => ({ ...each, resources: resources.containers[each.name] ?? each.resources }));
  const { spec } = pod;
  return {
    ...pod,
    spec: {
      ...spec,
      containers: renew(spec.containers ?? []),
      ...(spec.initContainers ? { initContainers: renew(spec.initContainers) } : {}),
      ...(resources.pod ? { resources: resources.pod } : {}),
    },
  } as Pod;
}

/** The names of the resources that differ between the two. */
function differences(a: Resources | undefined, b: Resources | undefined): (typeof names)[number][] {
  const amount = (resources: Resources | undefined, kind: (typeof kinds)[number], name: (typeof names)[number]) => {
    const text = resources?.[kind]?.[name];
    if (text === undefined) return undefined;
    return name === 'cpu' ? quantityMilliValue(text) : quantityValue(text);
  };
  return names.filter((name) => kinds.some((kind) => amount(a, kind, name) !== amount(b, kind, name)));
}

function isSame(a: Resources | undefined, b: Resources | undefined): boolean {
  return differences(a, b).length === 0;
}

export function isSameForPod(a: PodResources, b: PodResources): boolean {
  const containers = new Set([...Object.keys(a.containers), ...Object.keys(b.containers)]);
  return isSame(a.pod, b.pod) && [...containers].every((name) => isSame(a.containers[name], b.containers[name]));
}

/**
 * How a running container gets other resources: not at all, by an update through the runtime, or by a restart, as its
 * resize policy demands for the resources that change.
 */
export function resizeOf({ resources, resizePolicy }: Container, actual: Resources): 'none' | 'update' | 'restart' {
  const changed = differences(resources, actual);
  if (changed.length === 0) return 'none';
  const needsRestart = (resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === 'RestartContainer' && changed.some((name) => name === resourceName),
  );
  return needsRestart ? 'restart' : 'update';
}
