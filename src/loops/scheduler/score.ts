import type { SchedulingView } from './cluster.js';
import type { NodeInfo } from './node-info.js';
import type { PodInfo } from './pod-info.js';

/** The best score of a node. */
export const mostScore = 100;

/** A preference for the node of a pod. A pure function of the cluster. */
export interface Score {
  /** The upstream name of the score. */
  readonly name: string;
  readonly weight: number;
  /**
   * Scores from 0 to {@link mostScore} for each of the nodes; undefined when the pod has no preference of this kind.
   */
  of(pod: PodInfo, nodes: readonly NodeInfo[], cluster: SchedulingView): readonly number[] | undefined;
}

/** Stretches whole numbers so that the largest becomes the best score, or the worst one with `isReverse`. */
export function stretched(counts: readonly number[], isReverse = false): number[] {
  const most = counts.reduce((a, b) => Math.max(a, b), 0);
  if (most === 0) return counts.map(() => (isReverse ? mostScore : 0));
  return counts.map((count) => {
    const score = Math.trunc((mostScore * count) / most);
    return isReverse ? mostScore - score : score;
  });
}
