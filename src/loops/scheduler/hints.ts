import type { NamespaceLabels } from './affinity-terms.js';
import type { PodInfo } from './pod-info.js';
import type { QueuedPod } from './scheduling-queue.js';
import { constraintsOf, countsFor } from './spread.js';

function isSpreadWith({ info, refusedBy }: QueuedPod, other: PodInfo): boolean {
  if (!refusedBy.has('PodTopologySpread')) return false;
  // The change may be that the other pod is ending: a pod that is ending no longer counts, so it is compared as it was.
  const present = other.isEnding ? { namespace: other.namespace, labels: other.labels, isEnding: false } : other;
  return constraintsOf(info, 'DoNotSchedule').some((constraint) => countsFor(constraint, info, present));
}

/** Whether a refused pod may fit now that another pod is on a node, or has other labels there. */
export function helpsByBeingThere(waiting: QueuedPod, other: PodInfo, namespaceLabels: NamespaceLabels): boolean {
  const { info, refusedBy } = waiting;
  const isWanted =
    refusedBy.has('InterPodAffinity') && info.requiredAffinity.some((term) => term.matches(other, namespaceLabels));
  return isWanted || isSpreadWith(waiting, other);
}

/**
 * Whether a refused pod may fit now that another pod has left its node or its labels there, apart from freed capacity.
 */
export function helpsByBeingGone(waiting: QueuedPod, other: PodInfo, namespaceLabels: NamespaceLabels): boolean {
  const { info, refusedBy } = waiting;
  const wasAvoided =
    refusedBy.has('InterPodAffinity') &&
    (info.requiredAntiAffinity.some((term) => term.matches(other, namespaceLabels)) ||
      other.requiredAntiAffinity.some((term) => term.matches(info, namespaceLabels)));
  return wasAvoided || isSpreadWith(waiting, other);
}
