import type { PodCondition } from '../../../objects/apis/core/v1/pod.types.js';
import type { StoredPod } from './indexes.js';

/**
 * Lets the owner of a pod distinguish its deletion from a failure of the pod itself. Changes `pod`; undefined when it
 * is marked already.
 */
export function markDisrupted(pod: StoredPod, reason: string, message: string, time: string): StoredPod | undefined {
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
  } as unknown as PodCondition);
  pod.status.conditions = conditions;
  return pod;
}
