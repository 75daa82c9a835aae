import { parseTime } from '../../../base/machinery/values/time.js';
import type { Taint, Toleration } from '../../../objects/apis/core/v1/affinity.types.js';
import { tolerates } from '../../scheduler/tolerations.js';
import type { StoredPod } from '../frame/indexes.js';
import { podCondition } from '../frame/pod-state.js';

/**
 * When a pod has to leave its node because of the taints that evict pods, in milliseconds since the epoch: at once for
 * a taint that it does not tolerate, after the shortest of the times for which it tolerates one, or never (undefined).
 * The time runs from the newest of the taints, or from when the pod came to the node; a taint without a time counts
 * from `seenAt`.
 */
export function evictionTime(pod: Readonly<StoredPod>, taints: readonly Taint[], seenAt: number): number | undefined {
  const driving = taints.filter(({ effect }) => effect === 'NoExecute');
  if (driving.length === 0) return undefined;
  const tolerations = pod.spec.tolerations ?? [];
  const used: Toleration[] = [];
  for (const taint of driving) {
    const fitting = tolerations.filter((toleration) => tolerates(toleration, taint));
    const [first] = fitting;
    if (first === undefined) return seenAt;
    used.push(...fitting);
  }
  const seconds = used.map((toleration) => toleration.tolerationSeconds).filter((limit) => limit != null);
  if (seconds.length === 0) return undefined;
  const set = driving.map(({ timeAdded }) => (timeAdded ? parseTime(timeAdded) : seenAt));
  const came = podCondition(pod, 'PodScheduled')?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  const start = Math.max(...set, came ? parseTime(came) : seenAt);
  return start + 1000 * Math.max(0, Math.min(...seconds.map(Number)));
}
