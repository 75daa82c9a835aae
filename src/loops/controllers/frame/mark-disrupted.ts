import type { PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import type { StoredPod } from './indexes.js';
import { observed } from './pod-state.js';

/** What the condition says. */
export interface DisruptionMark {
  readonly reason: string;
  readonly message: string;
  readonly time: string;
  /** Whether it names the generation of the pod. */
  readonly isObserved?: boolean;
}

/**
 * Lets the owner of a pod distinguish its deletion from a failure of the pod itself. Changes `pod`; undefined when it
 * is marked already.
 */
export function markDisrupted(
  pod: StoredPod,
  { reason, message, time, isObserved = false }: DisruptionMark,
): StoredPod | undefined {
  const conditions = (pod.status.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
  const present = pod.status.conditions?.find(({ type }) => type === 'DisruptionTarget');
  if (present?.status === 'True') return undefined;
  conditions.push({
    type: 'DisruptionTarget',
    status: 'True',
    reason,
    message,
    lastTransitionTime: time,
    lastProbeTime: null,
    ...(isObserved ? observed(pod) : {}),
  } as unknown as PodCondition);
  pod.status.conditions = conditions;
  return pod;
}
