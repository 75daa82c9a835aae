import type { SchedulingView } from './cluster.js';
import type { FilterName, FilterRefusal, NodeFilter } from './filter.js';
import { filters as allFilters } from './filters/index.js';
import type { NodeInfo } from './node-info.js';
import type { PodInfo } from './pod-info.js';
import { scores as allScores } from './scores/index.js';

/** Why no node was found. */
export interface NoNode {
  readonly kind: 'none';
  readonly nodes: number;
  /** The reason of every node by its name; those left out have `elsewhere` as reason. */
  readonly refusals: ReadonlyMap<string, FilterRefusal>;
  /** A reason that lies in the pod itself, for all nodes. */
  readonly ofPod?: FilterRefusal | undefined;
  /** The filters that refused. */
  readonly by: ReadonlySet<FilterName>;
}

export interface FoundNode {
  readonly kind: 'found';
  readonly node: string;
  /** How many nodes were checked, and how many of them are feasible. */
  readonly seen: number;
  readonly feasible: number;
}

export interface FindOptions {
  /** Returns a random number from 0 to 1, which chooses among equally good nodes. */
  readonly random: () => number;
  /** The node to begin with; the next call should begin where this one ended. */
  readonly from?: number;
  /** How many feasible nodes are enough. Default: as many as {@link enoughNodes} returns. */
  readonly enough?: number;
}

const fewNodes = 100;
const leastShare = 5;

/**
 * How many feasible nodes are compared in a cluster of this size: all of up to 100, then a share that shrinks from
 * about 50 % to 5 % with the size.
 */
export function enoughNodes(nodes: number): number {
  if (nodes < fewNodes) return nodes;
  const share = Math.max(leastShare, 50 - Math.trunc(nodes / 125));
  return Math.max(fewNodes, Math.trunc((nodes * share) / 100));
}

/** The prepared filters of a pod, or why running them is useless. */
export interface Demands {
  readonly filters: readonly NodeFilter[];
  readonly refusal: FilterRefusal | undefined;
  /** The only nodes that need checking; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
}

/** Prepares all filters for a pod. */
export function demandsOf(pod: PodInfo, cluster: SchedulingView, filters = allFilters): Demands {
  const ready: NodeFilter[] = [];
  let only: ReadonlySet<string> | undefined;
  for (const filter of filters) {
    const prepared = filter.prepare(pod, cluster);
    if (prepared === undefined) continue;
    if ('refusal' in prepared) return { filters: [], refusal: prepared.refusal, only: undefined };
    ready.push(prepared);
    if (prepared.only !== undefined) {
      const { only: these } = prepared;
      only = only === undefined ? these : new Set([...only].filter((name) => these.has(name)));
    }
  }
  return { filters: ready, refusal: undefined, only };
}

/** The first refusal of a node in its present state. */
export function refusalOf(demands: readonly NodeFilter[], node: NodeInfo): FilterRefusal | undefined {
  for (const demand of demands) {
    const found = demand.check(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The first refusal of a node on which preemption makes space for other pods. The pod must fit beside those that are as
 * important or more, and must fit without them too, as they may end up elsewhere.
 */
export function refusalBesideNominated(
  demands: readonly NodeFilter[],
  pod: PodInfo,
  node: NodeInfo,
  cluster: SchedulingView,
): FilterRefusal | undefined {
  const expected: PodInfo[] = [];
  for (const other of cluster.nominated(node.name)) {
    if (other.priority >= pod.priority && other.uid !== pod.uid && !node.pods.has(other.uid)) expected.push(other);
  }
  if (expected.length > 0) {
    const crowded = node.copy();
    for (const other of expected) {
      crowded.add(other);
      for (const demand of demands) demand.podChanged?.(other, crowded, 1);
    }
    const found = refusalOf(demands, crowded);
    for (const other of expected) for (const demand of demands) demand.podChanged?.(other, crowded, -1);
    if (found !== undefined) return found;
  }
  return refusalOf(demands, node);
}

/** Finds the best node for a pod. Changes nothing. */
export function findNode(pod: PodInfo, cluster: SchedulingView, options: FindOptions): FoundNode | NoNode {
  const { nodes } = cluster;
  const demands = demandsOf(pod, cluster);
  if (demands.refusal !== undefined) return refusedAs(demands.refusal, nodes.length);
  const refusals = new Map<string, FilterRefusal>();
  const by = new Set<FilterName>();
  const feasible: NodeInfo[] = [];
  let seen = 0;
  let ofPod: FilterRefusal | undefined;
  const look = (node: NodeInfo): boolean => {
    seen += 1;
    const found = refusalBesideNominated(demands.filters, pod, node, cluster);
    if (found === undefined) feasible.push(node);
    else {
      refusals.set(node.name, found);
      by.add(found.filter);
      if (found.isOfPod === true) ofPod ??= found;
    }
    return found === undefined;
  };

  // The node chosen by the preemption comes first: most often it has the space now.
  const nominated = cluster.nominationOf(pod.uid) ?? pod.pod.status?.nominatedNodeName;
  const first = nominated ? cluster.node(nominated) : undefined;
  if (first !== undefined && (demands.only?.has(first.name) ?? true) && look(first)) {
    return { kind: 'found', node: first.name, seen, feasible: 1 };
  }
  if (demands.only !== undefined) {
    for (const name of demands.only) {
      const node = cluster.node(name);
      if (node !== undefined && node !== first) look(node);
    }
    if (feasible.length === 0 && demands.only.size < nodes.length) by.add('NodeAffinity');
  } else {
    const enough = options.enough ?? enoughNodes(nodes.length);
    const from = options.from ?? 0;
    for (let i = 0; i < nodes.length && feasible.length < enough; i++) {
      const node = nodes[(from + i) % nodes.length] as NodeInfo;
      if (node !== first) look(node);
    }
  }
  if (ofPod !== undefined) return refusedAs(ofPod, nodes.length);
  if (feasible.length === 0) return { kind: 'none', nodes: nodes.length, refusals, by };
  const best = feasible.length === 1 ? (feasible[0] as NodeInfo) : bestOf(pod, feasible, cluster, options.random);
  return { kind: 'found', node: best.name, seen, feasible: feasible.length };
}

/** A pod that no node can have. */
function refusedAs(ofPod: FilterRefusal, nodes: number): NoNode {
  return { kind: 'none', nodes, refusals: new Map(), ofPod, by: new Set([ofPod.filter]) };
}

function bestOf(pod: PodInfo, nodes: readonly NodeInfo[], cluster: SchedulingView, random: () => number): NodeInfo {
  const sums = totalScores(pod, nodes, cluster);
  let best = 0;
  let ties = 1;
  for (let i = 1; i < nodes.length; i++) {
    const difference = (sums[i] as number) - (sums[best] as number);
    if (difference > 0) {
      best = i;
      ties = 1;
    } else if (difference === 0) {
      ties += 1;
      if (random() * ties < 1) best = i;
    }
  }
  return nodes[best] as NodeInfo;
}

/** The weighted sum of all scores for each of the nodes. */
export function totalScores(
  pod: PodInfo,
  nodes: readonly NodeInfo[],
  cluster: SchedulingView,
  scores = allScores,
): readonly number[] {
  const sums = new Array<number>(nodes.length).fill(0);
  for (const score of scores) {
    const values = score.of(pod, nodes, cluster);
    if (values === undefined) continue;
    for (let i = 0; i < sums.length; i++) sums[i] = (sums[i] as number) + score.weight * (values[i] as number);
  }
  return sums;
}
