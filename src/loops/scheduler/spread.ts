import type { LabelSelector } from '../../base/machinery/label-selector.js';
import type { TopologySpreadConstraint } from '../../objects/apis/core/v1/affinity.types.js';
import { narrowedSelector } from './affinity-terms.js';
import type { SchedulingView } from './cluster.js';
import type { NodeInfo } from './node-info.js';
import type { NodeCounts } from './pod-counts.js';
import type { PodInfo } from './pod-info.js';
import { keepingAway, untolerated } from './tolerations.js';

/** A topology spread constraint of a pod, ready to be counted. */
export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector;
  /** Equal for equal selectors in one namespace. */
  readonly text: string;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

/** The hard constraints of a pod, or the soft ones. */
export function constraintsOf(
  { pod, labels }: PodInfo,
  whenUnsatisfiable: TopologySpreadConstraint['whenUnsatisfiable'],
): readonly SpreadConstraint[] {
  const given = pod.spec.topologySpreadConstraints ?? [];
  return given
    .filter((constraint) => constraint.whenUnsatisfiable === whenUnsatisfiable)
    .map((constraint) => {
      const { maxSkew, topologyKey, minDomains, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
      const narrowed = narrowedSelector(constraint.labelSelector, labels, constraint.matchLabelKeys ?? undefined);
      return {
        topologyKey,
        maxSkew,
        minDomains: minDomains ?? 1,
        ...narrowed,
        honorsAffinity: nodeAffinityPolicy !== 'Ignore',
        honorsTaints: nodeTaintsPolicy === 'Honor',
      };
    });
}

/** Whether the pods on a node count for a constraint. */
export function isCounted(constraint: SpreadConstraint, pod: PodInfo, node: NodeInfo): boolean {
  if (constraint.honorsAffinity && pod.requiredNodes !== undefined && !pod.requiredNodes(node)) return false;
  return !constraint.honorsTaints || untolerated(node.taints, pod.tolerations, keepingAway) === undefined;
}

/** Whether a pod counts for a constraint of another pod. */
export function countsFor(
  { selector }: SpreadConstraint,
  pod: PodInfo,
  other: Pick<PodInfo, 'namespace' | 'labels' | 'isEnding'>,
): boolean {
  return other.namespace === pod.namespace && !other.isEnding && selector.matches(other.labels);
}

/** The numbers of counted pods by node. */
export function countedPods(constraint: SpreadConstraint, pod: PodInfo, { counts }: SchedulingView): NodeCounts {
  return counts.of(`spread ${pod.namespace} ${constraint.text}`, (other) => countsFor(constraint, pod, other));
}
