import type { SchedulingView } from '../cluster.js';
import { type Filter, type NodeFilter, refusal } from '../filter.js';
import type { NodeInfo } from '../node-info.js';
import type { PodInfo } from '../pod-info.js';
import { constraintsOf, countedPods, countsFor, isCounted, type SpreadConstraint } from '../spread.js';

const name = 'PodTopologySpread';
const skewed = refusal(name, "node(s) didn't match pod topology spread constraints", false);
const unlabelled = refusal(name, "node(s) didn't match pod topology spread constraints (missing required label)", true);

/** The pods of a constraint in each domain. */
class Spread {
  private readonly domains = new Map<string, number>();
  private least: number | undefined;

  constructor(
    readonly constraint: SpreadConstraint,
    /** Whether the pod itself counts: 1 or 0. */
    readonly own: number,
  ) {}

  add(value: string, count: number): void {
    this.domains.set(value, (this.domains.get(value) ?? 0) + count);
    this.least = undefined;
  }

  /** By how much a domain would exceed the smallest one, with the pod in it. */
  skew(value: string): number {
    this.least ??= this.fewest();
    return (this.domains.get(value) ?? 0) + this.own - this.least;
  }

  private fewest(): number {
    if (this.domains.size < this.constraint.minDomains) return 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (const count of this.domains.values()) fewest = Math.min(fewest, count);
    return Number.isFinite(fewest) ? fewest : 0;
  }
}

class Spreads implements NodeFilter {
  private readonly spreads: readonly Spread[];

  constructor(
    private readonly pod: PodInfo,
    constraints: readonly SpreadConstraint[],
    cluster: SchedulingView,
  ) {
    this.spreads = constraints.map(
      (constraint) => new Spread(constraint, Number(constraint.selector.matches(pod.labels))),
    );
    const counted = constraints.map((constraint) => countedPods(constraint, pod, cluster));
    for (const node of cluster.nodes) {
      if (!this.hasAllKeys(node)) continue;
      this.spreads.forEach((spread, i) => {
        const { constraint } = spread;
        if (!isCounted(constraint, pod, node)) return;
        spread.add(node.labels[constraint.topologyKey] as string, counted[i]?.get(node) ?? 0);
      });
    }
  }

  check(node: NodeInfo) {
    for (const spread of this.spreads) {
      const { topologyKey, maxSkew } = spread.constraint;
      if (!Object.hasOwn(node.labels, topologyKey)) return unlabelled;
      if (spread.skew(node.labels[topologyKey] as string) > maxSkew) return skewed;
    }
    return undefined;
  }

  podChanged(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    if (!this.hasAllKeys(node)) return;
    for (const spread of this.spreads) {
      const { constraint } = spread;
      if (!countsFor(constraint, this.pod, other) || !isCounted(constraint, this.pod, node)) continue;
      spread.add(node.labels[constraint.topologyKey] as string, by);
    }
  }

  private hasAllKeys({ labels }: NodeInfo): boolean {
    return this.spreads.every(({ constraint }) => Object.hasOwn(labels, constraint.topologyKey));
  }
}

/** The hard topology spread constraints. */
export const topologySpreadFilter: Filter = {
  name,
  prepare(pod, cluster) {
    const constraints = constraintsOf(pod, 'DoNotSchedule');
    return constraints.length === 0 ? undefined : new Spreads(pod, constraints, cluster);
  },
};
