import type { DaemonSetStatus } from '../../../objects/apis/apps/v1/daemon-set.types.js';
import { availableInMs, isPodReady } from '../frame/pod-state.js';
import { hashOfPod } from './daemon-pods.js';
import type { DaemonState } from './next-steps.js';

/** The status of a set with these pods. Of several pods on a node the oldest counts. */
export function nextDaemonStatus(before: DaemonSetStatus, state: DaemonState, collisionCount: number): DaemonSetStatus {
  const { set, nodes, hash, now } = state;
  const { minReadySeconds = 0 } = set.spec;
  const wanted = nodes.filter(({ fit }) => fit.runs);
  const first = wanted.flatMap(({ pods }) => pods.slice(0, 1));
  const available = first.filter((pod) => availableInMs(pod, minReadySeconds, now) === 0).length;
  const { generation } = set.metadata;
  const { conditions = [] } = before;
  return {
    currentNumberScheduled: first.length,
    numberMisscheduled: nodes.filter(({ fit, pods }) => !fit.runs && pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: first.filter(isPodReady).length,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...counted('updatedNumberScheduled', first.filter((pod) => hashOfPod(pod) === hash).length),
    ...counted('numberAvailable', available),
    ...counted('numberUnavailable', wanted.length - available),
    ...(before.collisionCount === undefined && collisionCount === 0 ? {} : { collisionCount }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

/** How long until one more pod is available, in milliseconds; undefined when none will be. */
export function nextAvailableInMs({ set, nodes, now }: DaemonState): number | undefined {
  const { minReadySeconds = 0 } = set.spec;
  const waits = nodes
    .flatMap(({ pods }) => pods.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0))
    .filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** A count in the status, left out when it is 0. */
function counted<K extends keyof DaemonSetStatus>(field: K, count: number): { [field in K]?: number } {
  return (count === 0 ? {} : { [field]: count }) as { [field in K]?: number };
}
