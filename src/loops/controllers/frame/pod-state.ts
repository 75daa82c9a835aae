import { parseTime } from '../../../base/machinery/values/time.js';
import type { PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import type { StoredPod } from './indexes.js';

/** The pod's condition of the given type. */
export function podCondition(pod: Readonly<StoredPod>, type: string): PodCondition | undefined {
  const { conditions } = pod.status;
  if (conditions === undefined) return undefined;
  // A plain loop, because controllers examine thousands of pods again and again.
  for (const condition of conditions) if (condition.type === type) return condition;
  return undefined;
}

/** Whether the pod serves requests. */
export function isPodReady(pod: Readonly<StoredPod>): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/** Whether the pod has finished, successfully or not. */
export function isPodFinished({ status }: Readonly<StoredPod>): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

/** Whether the pod counts towards the desired number: neither ended nor being deleted. */
export function isPodActive(pod: Readonly<StoredPod>): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** Whether the pod is being deleted and has not ended yet. */
export function isPodTerminating(pod: Readonly<StoredPod>): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/**
 * When the pod became ready, in milliseconds since the epoch; undefined when it is not ready or the time is unknown.
 */
export function readySince(pod: Readonly<StoredPod>): number | undefined {
  const condition = podCondition(pod, 'Ready');
  if (condition?.status !== 'True' || !condition.lastTransitionTime) return undefined;
  return parseTime(condition.lastTransitionTime);
}

/**
 * How long until the pod has been ready for `minReadySeconds`, in milliseconds: 0 when it is available, undefined when
 * it is not ready.
 *
 * @param now milliseconds since the epoch
 */
export function availableInMs(pod: Readonly<StoredPod>, minReadySeconds: number, now: number): number | undefined {
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const since = readySince(pod);
  return since === undefined ? undefined : Math.max(0, since + minReadySeconds * 1000 - now);
}

/** Whether the pod has been ready for `minReadySeconds`. */
export function isPodAvailable(pod: Readonly<StoredPod>, minReadySeconds: number, now: number): boolean {
  return availableInMs(pod, minReadySeconds, now) === 0;
}

/** The generation of the pod, for a condition that is about it. */
export function observed({ metadata: { generation } }: Pick<StoredPod, 'metadata'>): {
  readonly observedGeneration?: StoredPod['metadata']['generation'];
} {
  return generation === undefined ? {} : { observedGeneration: generation };
}
