import type { SchedulingView } from '../cluster.js';
import type { NodeInfo } from '../node-info.js';
import type { PodInfo } from '../pod-info.js';
import { mostScore, type Score } from '../score.js';
import { constraintsOf, countedPods, isCounted, type SpreadConstraint } from '../spread.js';

/** The constraints for pods of a group without spread constraints of their own. */
const defaultSkews = { hostname: 3, zone: 5 } as const;

function defaultConstraints(
  pod: PodInfo,
  { clusterObjects, labelPrefix }: SchedulingView,
): readonly SpreadConstraint[] {
  const group = clusterObjects.groupOf?.(pod);
  if (group === undefined) return [];
  const of = (topologyKey: string, maxSkew: number): SpreadConstraint => ({
    topologyKey,
    maxSkew,
    minDomains: 1,
    ...group,
    honorsAffinity: true,
    honorsTaints: false,
  });
  return [of(`${labelPrefix}/hostname`, defaultSkews.hostname), of(`topology.${labelPrefix}/zone`, defaultSkews.zone)];
}

/**
 * The cost of a node: the more pods of the group its domains have, the higher. Undefined for a node that lacks a
 * required topology key.
 */
function costs(
  pod: PodInfo,
  constraints: readonly SpreadConstraint[],
  needsAllKeys: boolean,
  nodes: readonly NodeInfo[],
  cluster: SchedulingView,
): (number | undefined)[] {
  const hostname = `${cluster.labelPrefix}/hostname`;
  const isInside = ({ labels }: NodeInfo) =>
    !needsAllKeys || constraints.every(({ topologyKey }) => Object.hasOwn(labels, topologyKey));
  const inside = nodes.filter(isInside);
  const sums = constraints.map((constraint) => {
    const { topologyKey, maxSkew } = constraint;
    const counted = countedPods(constraint, pod, cluster);
    if (topologyKey === hostname) {
      const weight = Math.log(inside.length + 2);
      return (node: NodeInfo) => (counted.get(node) ?? 0) * weight + (maxSkew - 1);
    }
    const domains = new Map<string, number>();
    for (const { labels } of inside) {
      if (Object.hasOwn(labels, topologyKey)) domains.set(labels[topologyKey] as string, 0);
    }
    for (const [node, count] of counted) {
      const value = node.labels[topologyKey];
      const known = value === undefined ? undefined : domains.get(value);
      if (value === undefined || known === undefined || !isInside(node) || !isCounted(constraint, pod, node)) continue;
      domains.set(value, known + count);
    }
    const weight = Math.log(domains.size + 2);
    return (node: NodeInfo) => (domains.get(node.labels[topologyKey] as string) ?? 0) * weight + (maxSkew - 1);
  });
  return nodes.map((node) => {
    if (!isInside(node)) return undefined;
    let cost = 0;
    constraints.forEach(({ topologyKey }, i) => {
      if (Object.hasOwn(node.labels, topologyKey)) cost += sums[i]?.(node) ?? 0;
    });
    return Math.round(cost);
  });
}

/** The soft topology spread constraints; without any, pods of a group are spread over nodes and zones. */
export const topologySpreadScore: Score = {
  name: 'PodTopologySpread',
  weight: 2,
  of(pod, nodes, cluster) {
    const hasOwn = (pod.pod.spec.topologySpreadConstraints ?? []).length > 0;
    const constraints = hasOwn ? constraintsOf(pod, 'ScheduleAnyway') : defaultConstraints(pod, cluster);
    if (constraints.length === 0) return undefined;
    const found = costs(pod, constraints, hasOwn, nodes, cluster);
    let least = Number.POSITIVE_INFINITY;
    let most = 0;
    for (const cost of found) {
      if (cost === undefined) continue;
      least = Math.min(least, cost);
      most = Math.max(most, cost);
    }
    return found.map((cost) => {
      if (cost === undefined) return 0;
      return most === 0 ? mostScore : Math.trunc((mostScore * (most + least - cost)) / most);
    });
  },
};
