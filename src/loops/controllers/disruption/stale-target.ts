import { formatTime } from '../../../base/machinery/clock.js';
import { parseTime } from '../../../base/machinery/values/time.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodFinished, observed, podCondition } from '../frame/pod-state.js';

/** How long a pod may be the target of a disruption before its deletion begins, in milliseconds. */
const timeoutMs = 120_000;

/**
 * How long until the condition `DisruptionTarget` of a pod that stays is outdated, in milliseconds: 0 when it is;
 * undefined when the pod is not a target, or is being deleted.
 *
 * @param now milliseconds since the epoch
 */
export function staleInMs(pod: StoredPod, now: number): number | undefined {
  const condition = podCondition(pod, 'DisruptionTarget');
  const isLeaving = pod.metadata.deletionTimestamp !== undefined || isPodFinished(pod);
  // A node agent may take as long as it wants.
  if (condition?.status !== 'True' || condition.reason === 'TerminationByKubelet' || isLeaving) return undefined;
  const since = condition.lastTransitionTime;
  return since ? Math.max(0, parseTime(since) + timeoutMs - now) : 0;
}

/** Removes the condition; changes the pod. */
export function clearTarget(pod: StoredPod, now: number): void {
  pod.status.conditions = (pod.status.conditions ?? []).map((condition) =>
    condition.type === 'DisruptionTarget'
      ? {
          type: condition.type,
          status: 'False',
          lastProbeTime: condition.lastProbeTime,
          lastTransitionTime: formatTime(now),
          ...observed(pod),
        }
      : condition,
  );
}
