import type { AffinityTerm, NamespaceLabels } from './affinity-terms.js';
import type { NodeInfo } from './node-info.js';
import { mostPlacingSize, mostTermsOfNamespace } from './placing-limits.js';
import type { PodInfo } from './pod-info.js';

/** How many pods each node has of some sort; nodes without any are left out. */
export type NodeCounts = ReadonlyMap<NodeInfo, number>;

/** The terms of pods about other pods. */
export type TermKind = 'affinity' | 'antiAffinity' | 'preferredAffinity' | 'preferredAntiAffinity';

/** A term, and the nodes with pods that have it. */
export interface CountedTerm {
  readonly term: AffinityTerm;
  readonly nodes: NodeCounts;
}

/** Whether a pod is counted; must always return the same for the same pod. */
export type PodTest = (pod: PodInfo) => boolean;

function count(counts: Map<NodeInfo, number>, node: NodeInfo, by: 1 | -1): void {
  const sum = (counts.get(node) ?? 0) + by;
  if (sum > 0) counts.set(node, sum);
  else counts.delete(node);
}

/** The most sorts of pods that are counted; the one unused for the longest is forgotten first. */
const mostSorts = 64;

/**
 * Counts of pods by node, kept up to date pod by pod: of pods that match a selector, and of pods with the same term
 * about other pods. Pods made from one template need the same counts, so few are ever counted from scratch.
 */
export class PodCounts {
  private readonly sorts = new Map<string, { readonly test: PodTest; readonly counts: Map<NodeInfo, number> }>();
  private readonly terms: Readonly<
    Record<TermKind, Map<string, { readonly term: AffinityTerm; readonly nodes: Map<NodeInfo, number> }>>
  > = { affinity: new Map(), antiAffinity: new Map(), preferredAffinity: new Map(), preferredAntiAffinity: new Map() };

  /** The size of the different terms of each namespace's pods. */
  private readonly sizes = new Map<string, number>();
  /** Pods on nodes whose terms are too many to be kept. */
  private readonly ignored = new Set<string>();

  /** @param infos all nodes with pods */
  constructor(private readonly infos: () => Iterable<NodeInfo>) {}

  /** Counts a pod that has come to a node (`by` 1) or left it (-1). */
  changed(pod: PodInfo, node: NodeInfo, by: 1 | -1): void {
    for (const { test, counts } of this.sorts.values()) if (test(pod)) count(counts, node, by);
    if (pod.demandsSize === 0) return;
    if (by === 1 && !this.admits(pod)) this.ignored.add(pod.uid);
    else if (by === 1 || !this.ignored.delete(pod.uid)) {
      for (const [kind, terms] of termsOfPod(pod)) this.changedTerms(kind, terms, pod.namespace, node, by);
    }
  }

  /**
   * Whether the terms of a pod can be kept together with those of its namespace: equal terms of several pods are kept
   * once. The terms of a pod that came to a node although they can't be kept are ignored there, and {@link isIgnored}
   * returns true.
   */
  admits(pod: PodInfo): boolean {
    if (pod.demandsSize > mostPlacingSize) return false;
    let size = this.sizes.get(pod.namespace) ?? 0;
    if (size + pod.demandsSize * largestPart <= mostTermsOfNamespace) return true;
    for (const [kind, terms] of termsOfPod(pod)) {
      for (const { key } of terms) if (!this.terms[kind].has(key)) size += key.length;
    }
    return size <= mostTermsOfNamespace;
  }

  /** Whether the pod is on a node, and its terms about other pods are ignored. */
  isIgnored({ uid }: PodInfo): boolean {
    return this.ignored.has(uid);
  }

  /** How many pods are ignored. */
  get ignoredPods(): number {
    return this.ignored.size;
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

  /** Forgets the results of tests: their inputs besides the pod have changed. */
  forget(): void {
    this.sorts.clear();
  }

  private changedTerms(
    kind: TermKind,
    terms: readonly AffinityTerm[],
    namespace: string,
    node: NodeInfo,
    by: 1 | -1,
  ): void {
    const known = this.terms[kind];
    for (const term of terms) {
      let entry = known.get(term.key);
      if (entry === undefined) {
        entry = { term, nodes: new Map() };
        known.set(term.key, entry);
        this.resized(namespace, term.key.length);
      }
      count(entry.nodes, node, by);
      if (entry.nodes.size > 0) continue;
      known.delete(term.key);
      this.resized(namespace, -term.key.length);
    }
  }

  private resized(namespace: string, by: number): void {
    const size = (this.sizes.get(namespace) ?? 0) + by;
    if (size > 0) this.sizes.set(namespace, size);
    else this.sizes.delete(namespace);
  }
}

/** How many times longer than the JSON of a term its key can be, since the key includes the pod's namespace. */
const largestPart = 4;

function termsOfPod(pod: PodInfo): readonly (readonly [TermKind, readonly AffinityTerm[]])[] {
  return [
    ['affinity', pod.requiredAffinity],
    ['antiAffinity', pod.requiredAntiAffinity],
    ['preferredAffinity', pod.preferredAffinity],
    ['preferredAntiAffinity', pod.preferredAntiAffinity],
  ];
}

/** A test for pods that match all the terms. */
export function aboutAll(terms: readonly AffinityTerm[], namespaceLabels: NamespaceLabels): PodTest {
  return (pod) => terms.every((term) => term.matches(pod, namespaceLabels));
}
