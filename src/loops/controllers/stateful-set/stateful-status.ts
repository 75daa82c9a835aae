import type { StatefulSetStatus } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import { availableInMs } from '../frame/pod-state.js';
import { isRunningAndReady, isTerminating, type SetState } from './next-steps.js';
import { podRevisionOf } from './stateful-pods.js';

/**
 * The status of a set with these pods. A rolling update is complete, and the new revision becomes the current one, when
 * all desired pods exist, new and ready.
 */
export function nextStatefulStatus(
  before: StatefulSetStatus,
  state: SetState,
  collisionCount: number,
): StatefulSetStatus {
  const { set, pods, updateRevision, now } = state;
  const { minReadySeconds = 0, replicas: wanted = 1, updateStrategy } = set.spec;
  const ready = pods.filter(isRunningAndReady);
  const staying = pods.filter((pod) => !isTerminating(pod));
  const madeFrom = (revision: string) => staying.filter((pod) => podRevisionOf(pod) === revision).length;
  const updatedReplicas = madeFrom(updateRevision);
  const isComplete =
    updateStrategy.type !== 'OnDelete' &&
    [updatedReplicas, pods.length, ready.length].every((count) => count === wanted);
  const currentRevision = isComplete ? updateRevision : state.currentRevision;
  const currentReplicas = madeFrom(currentRevision);
  const availableReplicas = ready.filter((pod) => availableInMs(pod, minReadySeconds, now) === 0).length;
  const { conditions = [] } = before;
  const { generation } = set.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    replicas: pods.length,
    ...(ready.length === 0 ? {} : { readyReplicas: ready.length }),
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    ...(updatedReplicas === 0 ? {} : { updatedReplicas }),
    currentRevision,
    updateRevision,
    collisionCount,
    ...(conditions.length === 0 ? {} : { conditions }),
    availableReplicas,
  };
}

/** How long until one more pod is available, in milliseconds; undefined when none will be. */
export function nextAvailableInMs({ set, pods, now }: SetState): number | undefined {
  const { minReadySeconds = 0 } = set.spec;
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, now) ?? 0).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
