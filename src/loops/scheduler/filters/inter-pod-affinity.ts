import type { SchedulingView } from '../cluster.js';
import { type Filter, type NodeFilter, refusal } from '../filter.js';
import type { NodeInfo } from '../node-info.js';
import { aboutAll } from '../pod-counts.js';
import type { PodInfo } from '../pod-info.js';

const name = 'InterPodAffinity';
const notNear = refusal(name, "node(s) didn't match pod affinity rules", true);
const tooNear = refusal(name, "node(s) didn't match pod anti-affinity rules", false);
const unwelcome = refusal(name, "node(s) didn't satisfy existing pods anti-affinity rules", false);

/** Numbers of pods in topology domains, by key and value of the node label. */
class Domains {
  private readonly byKey = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.byKey.size === 0;
  }

  get keys(): Iterable<string> {
    return this.byKey.keys();
  }

  add(node: NodeInfo, key: string, count: number): void {
    if (!Object.hasOwn(node.labels, key)) return;
    const value = node.labels[key] as string;
    let values = this.byKey.get(key);
    if (values === undefined) {
      values = new Map();
      this.byKey.set(key, values);
    }
    const sum = (values.get(value) ?? 0) + count;
    if (sum > 0) values.set(value, sum);
    else values.delete(value);
    if (values.size === 0) this.byKey.delete(key);
  }

  has(node: NodeInfo, key: string): boolean {
    return Object.hasOwn(node.labels, key) && this.byKey.get(key)?.has(node.labels[key] as string) === true;
  }
}

class Neighbours implements NodeFilter {
  /** Domains with pods that want the pod to stay away. */
  private readonly hostile = new Domains();
  /** Domains with pods that all affinity terms match. */
  private readonly wanted = new Domains();
  /** Domains with pods that one of the anti-affinity terms matches; one for each term. */
  private readonly avoided: readonly Domains[];
  private readonly isWanted: (pod: PodInfo) => boolean;
  private readonly fitsItself: boolean;

  constructor(
    private readonly pod: PodInfo,
    private readonly cluster: SchedulingView,
  ) {
    const { counts, namespaceLabels } = cluster;
    const { requiredAffinity, requiredAntiAffinity } = pod;
    for (const { term, nodes } of counts.termsOf('antiAffinity')) {
      if (!term.matches(pod, namespaceLabels)) continue;
      for (const [node, count] of nodes) this.hostile.add(node, term.topologyKey, count);
    }
    this.isWanted = aboutAll(requiredAffinity, namespaceLabels);
    this.fitsItself = this.isWanted(pod);
    if (requiredAffinity.length > 0) {
      const key = `all ${requiredAffinity.map((term) => term.key).join()}`;
      for (const [node, count] of counts.of(key, this.isWanted)) {
        for (const { topologyKey } of requiredAffinity) this.wanted.add(node, topologyKey, count);
      }
    }
    this.avoided = requiredAntiAffinity.map((term) => {
      const domains = new Domains();
      const found = counts.of(`all ${term.key}`, aboutAll([term], namespaceLabels));
      for (const [node, count] of found) domains.add(node, term.topologyKey, count);
      return domains;
    });
  }

  /** Whether no node can be refused. */
  get isIdle(): boolean {
    const { requiredAffinity, requiredAntiAffinity } = this.pod;
    return requiredAffinity.length === 0 && requiredAntiAffinity.length === 0 && this.hostile.isEmpty;
  }

  check(node: NodeInfo) {
    if (!this.isNearEnough(node)) return notNear;
    const { requiredAntiAffinity } = this.pod;
    for (let i = 0; i < requiredAntiAffinity.length; i++) {
      const key = requiredAntiAffinity[i]?.topologyKey as string;
      if (this.avoided[i]?.has(node, key) === true) return tooNear;
    }
    for (const key of this.hostile.keys) if (this.hostile.has(node, key)) return unwelcome;
    return undefined;
  }

  podChanged(other: PodInfo, node: NodeInfo, by: 1 | -1): void {
    const { namespaceLabels } = this.cluster;
    for (const term of this.cluster.counts.isIgnored(other) ? [] : other.requiredAntiAffinity) {
      if (term.matches(this.pod, namespaceLabels)) this.hostile.add(node, term.topologyKey, by);
    }
    const { requiredAffinity, requiredAntiAffinity } = this.pod;
    if (requiredAffinity.length > 0 && this.isWanted(other)) {
      for (const { topologyKey } of requiredAffinity) this.wanted.add(node, topologyKey, by);
    }
    requiredAntiAffinity.forEach((term, i) => {
      if (term.matches(other, namespaceLabels)) this.avoided[i]?.add(node, term.topologyKey, by);
    });
  }

  private isNearEnough(node: NodeInfo): boolean {
    const { requiredAffinity } = this.pod;
    if (requiredAffinity.length === 0) return true;
    if (!requiredAffinity.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey))) return false;
    if (requiredAffinity.every(({ topologyKey }) => this.wanted.has(node, topologyKey))) return true;
    // The first pod of a group that wants to be together has no pod to be near to.
    return this.wanted.isEmpty && this.fitsItself;
  }
}

/** Required affinity and anti-affinity to other pods, and the required anti-affinity of those to the pod. */
export const interPodAffinityFilter: Filter = {
  name,
  prepare(pod, cluster) {
    const neighbours = new Neighbours(pod, cluster);
    return neighbours.isIdle ? undefined : neighbours;
  },
};
