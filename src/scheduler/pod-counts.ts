import type { AffinityTerm, NamespaceLabels } from './affinity-terms.js';
import type { NodeInfo } from './node-info.js';
import type { PodInfo } from './pod-info.js';

/** How many pods each node has of some sort; nodes without any are left out. */
export type NodeCounts = ReadonlyMap<NodeInfo, number>;

/** What pods say about other pods. */
export type TermKind = 'affinity' | 'antiAffinity' | 'preferredAffinity' | 'preferredAntiAffinity';

/** A term, and on which nodes the pods are that have it. */
export interface CountedTerm {
  readonly term: AffinityTerm;
  readonly nodes: NodeCounts;
}

/** Says whether a pod is counted; must always answer the same for the same pod. */
export type PodTest = (pod: PodInfo) => boolean;

function count(counts: Map<NodeInfo, number>, node: NodeInfo, by: 1 | -1): void {
  const sum = (counts.get(node) ?? 0) + by;
  if (sum > 0) counts.set(node, sum);
  else counts.delete(node);
}

/** Most sorts of pods that are counted; the one that nobody asked for the longest is forgotten first. */
const mostSorts = 64;

/**
 * Counts of pods by node, kept up to date pod by pod: of pods that fit a selector, and of pods with the same term about
 * other pods. Pods made from one template ask the same questions, so few of them are ever counted from the start.
 */
export class PodCounts {
  private readonly sorts = new Map<string, { readonly test: PodTest; readonly counts: Map<NodeInfo, number> }>();
  private readonly terms: Readonly<
    Record<TermKind, Map<string, { readonly term: AffinityTerm; readonly nodes: Map<NodeInfo, number> }>>
  > = { affinity: new Map(), antiAffinity: new Map(), preferredAffinity: new Map(), preferredAntiAffinity: new Map() };

  /** @param infos all nodes with pods */
  constructor(private readonly infos: () => Iterable<NodeInfo>) {}

  /** A pod has come to a node (`by` 1) or left it (-1). */
  changed(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    for (const { test, counts } of this.sorts.values()) if (test(pod)) count(counts, node, by);
    this.changedTerms('affinity', pod.requiredAffinity, node, by);
    this.changedTerms('antiAffinity', pod.requiredAntiAffinity, node, by);
    this.changedTerms('preferredAffinity', pod.preferredAffinity, node, by);
    this.changedTerms('preferredAntiAffinity', pod.preferredAntiAffinity, node, by);
  }

  /** The pods that pass the test; `key` must be equal only for tests that are the same. */
  of(key: string, test: PodTest): NodeCounts {
    let sort = this.sorts.get(key);
    if (sort === undefined) {
      sort = { test, counts: new Map() };
      for (const node of this.infos()) {
        for (const pod of node.pods.values()) if (test(pod)) count(sort.counts, node, 1);
      }
    } else this.sorts.delete(key);
    this.sorts.set(key, sort);
    if (this.sorts.size > mostSorts) this.sorts.delete(this.sorts.keys().next().value as string);
    return sort.counts;
  }

  /** The terms that pods on nodes have, each once. */
  termsOf(kind: TermKind): Iterable<CountedTerm> {
    return this.terms[kind].values();
  }

  /** Forgets what tests answered: what they look at besides the pod has changed. */
  forget(): void {
    this.sorts.clear();
  }

  private changedTerms(kind: TermKind, terms: readonly AffinityTerm[], node: NodeInfo, by: 1 | -1): void {
    const known = this.terms[kind];
    for (const term of terms) {
      let entry = known.get(term.key);
      if (entry === undefined) {
        entry = { term, nodes: new Map() };
        known.set(term.key, entry);
      }
      count(entry.nodes, node, by);
      if (entry.nodes.size === 0) known.delete(term.key);
    }
  }
}

/** A test for pods that all the terms are about. */
export function aboutAll(terms: readonly AffinityTerm[], namespaceLabels: NamespaceLabels): PodTest {
  return (pod) => terms.every((term) => term.matches(pod, namespaceLabels));
}
