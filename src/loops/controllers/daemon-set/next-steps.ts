import { shareOf } from '../../../base/machinery/values/int-or-string.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodAvailable } from '../frame/pod-state.js';
import { hashOfPod, type NodeFit, type StoredDaemonSet, targetNode } from './daemon-pods.js';

/** A node with its pods of the set, oldest first. */
export interface NodeState {
  readonly name: string;
  readonly fit: NodeFit;
  readonly pods: readonly StoredPod[];
}

/** The inputs for choosing the next steps. */
export interface DaemonState {
  readonly set: StoredDaemonSet;
  readonly nodes: readonly NodeState[];
  /** Pods that wait for nodes that do not exist. */
  readonly lost: readonly StoredPod[];
  /** The hash of the present template. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface DaemonSteps {
  /** Names of the nodes that get a pod. */
  readonly create: readonly string[];
  readonly delete: readonly StoredPod[];
  /** Pods that ended: they are also deleted, when the loop's back-off allows it. */
  readonly ended: readonly { readonly pod: StoredPod; readonly node: string }[];
}

/** Assigns the pods of a set to their nodes. Pods that ended and are being deleted count as gone. */
export function daemonState(
  set: StoredDaemonSet,
  pods: readonly StoredPod[],
  fits: ReadonlyMap<string, NodeFit>,
  { hash, now }: Pick<DaemonState, 'hash' | 'now'>,
): DaemonState {
  const byNode = new Map<string, StoredPod[]>();
  const lost: StoredPod[] = [];
  for (const pod of [...pods].sort(byAge)) {
    const node = targetNode(pod);
    if (node === undefined || (hasEnded(pod) && isTerminating(pod))) continue;
    if (!fits.has(node)) {
      if (!pod.spec.nodeName && !isTerminating(pod)) lost.push(pod);
      continue;
    }
    const known = byNode.get(node);
    if (known === undefined) byNode.set(node, [pod]);
    else known.push(pod);
  }
  const nodes = [...fits].map(([name, fit]) => ({ name, fit, pods: byNode.get(name) ?? [] }));
  return { set, nodes, lost, hash, now };
}

/** Pods to create on nodes that lack one, and pods to delete because they are not wanted or too many. */
export function placementSteps(state: DaemonState): DaemonSteps {
  const create: string[] = [];
  const gone: StoredPod[] = [...state.lost];
  const ended: { pod: StoredPod; node: string }[] = [];
  for (const { name, fit, pods } of state.nodes) {
    if (fit.runs && pods.length === 0) create.push(name);
    const staying = pods.filter((pod) => !isTerminating(pod));
    if (!fit.keeps) {
      gone.push(...staying);
      continue;
    }
    const alive = staying.filter((pod) => !hasEnded(pod));
    for (const pod of staying) if (hasEnded(pod)) ended.push({ pod, node: name });
    gone.push(...superfluous(state, alive));
  }
  return { create, delete: gone, ended };
}

/** All but the oldest pod of a node; during an update with a surge, the oldest old and the oldest new one stay. */
function superfluous(state: DaemonState, alive: readonly StoredPod[]): StoredPod[] {
  if (alive.length <= 1) return [];
  if (limitsOf(state).surge === 0) return alive.slice(1);
  const [fresh, ...moreFresh] = alive.filter((pod) => hashOfPod(pod) === state.hash);
  const [old, ...moreOld] = alive.filter((pod) => hashOfPod(pod) !== state.hash);
  const isReplaced = fresh !== undefined && old !== undefined && isAvailable(state, fresh);
  return [...moreFresh, ...moreOld, ...(isReplaced ? [old] : [])];
}

/** The next steps of a rolling update: pods to remove, and with a surge nodes that get a new pod beside the old one. */
export function updateSteps(state: DaemonState): DaemonSteps {
  if (state.set.spec.updateStrategy.type === 'OnDelete') return { create: [], delete: [], ended: [] };
  const { surge, unavailable } = limitsOf(state);
  return surge > 0 ? surgeSteps(state, surge) : replaceSteps(state, unavailable);
}

function replaceSteps(state: DaemonState, most: number): DaemonSteps {
  let missing = 0;
  const broken: StoredPod[] = [];
  const candidates: StoredPod[] = [];
  for (const { fit, pods } of state.nodes) {
    if (!fit.keeps || (pods.length === 0 && !fit.runs)) continue;
    const [pod, ...others] = pods.filter((one) => !isTerminating(one));
    if (pod === undefined || others.length > 0) missing += 1;
    else if (hashOfPod(pod) === state.hash) missing += isAvailable(state, pod) ? 0 : 1;
    else if (isAvailable(state, pod)) candidates.push(pod);
    else {
      missing += 1;
      broken.push(pod);
    }
  }
  return { create: [], delete: [...broken, ...candidates.slice(0, Math.max(0, most - missing))], ended: [] };
}

function surgeSteps(state: DaemonState, most: number): DaemonSteps {
  let surging = 0;
  const replaced: StoredPod[] = [];
  const urgent: string[] = [];
  const candidates: string[] = [];
  for (const { name, fit, pods } of state.nodes) {
    if (!fit.runs) continue;
    const alive = pods.filter((pod) => !isTerminating(pod));
    const fresh = alive.find((pod) => hashOfPod(pod) === state.hash);
    const old = alive.find((pod) => hashOfPod(pod) !== state.hash);
    if (old === undefined) continue;
    if (fresh === undefined) (isAvailable(state, old) ? candidates : urgent).push(name);
    else if (isAvailable(state, fresh)) replaced.push(old);
    else surging += 1;
  }
  return { create: [...urgent, ...candidates.slice(0, Math.max(0, most - surging))], delete: replaced, ended: [] };
}

/** How many pods may be missing during an update, and how many nodes may have two. */
function limitsOf({ set, nodes }: DaemonState): { readonly surge: number; readonly unavailable: number } {
  const wanted = nodes.filter(({ fit }) => fit.runs).length;
  const { maxSurge = 0, maxUnavailable = 1 } = set.spec.updateStrategy.rollingUpdate ?? {};
  const surge = set.spec.updateStrategy.type === 'OnDelete' ? 0 : shareOf(maxSurge, wanted, 'up');
  const unavailable = shareOf(maxUnavailable, wanted, 'up');
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable };
}

export function isTerminating({ metadata }: StoredPod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function hasEnded({ status }: StoredPod): boolean {
  return status.phase === 'Failed' || status.phase === 'Succeeded';
}

function isAvailable({ set, now }: DaemonState, pod: StoredPod): boolean {
  return isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}

/** Pods on a node first, then by age and name. */
function byAge(a: StoredPod, b: StoredPod): number {
  const rank = ({ spec, status, metadata }: StoredPod) => [
    spec.nodeName ? 0 : 1,
    status.phase === 'Running' ? 0 : 1,
    Date.parse(metadata.creationTimestamp ?? '') || 0,
  ];
  const ranks = rank(b);
  const difference = rank(a)
    .map((value, i) => value - (ranks[i] ?? 0))
    .find((value) => value !== 0);
  return difference ?? ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}
