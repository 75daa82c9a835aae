import { shareOf } from '../../../base/machinery/values/int-or-string.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodAvailable, isPodFinished, isPodReady } from '../frame/pod-state.js';
import { ordinalOf, ordinalsOf, podRevisionOf, type StoredStatefulSet } from './stateful-pods.js';

/** The inputs for choosing the next steps. */
export interface SetState {
  readonly set: StoredStatefulSet;
  /** The existing pods of the set, whatever their ordinals. */
  readonly pods: readonly StoredPod[];
  /** The names of the revisions of old and new pods. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Steps that may be done now. */
export interface NextSteps {
  /** Ordinals of the pods to make, and the revision of each. */
  readonly create: readonly { readonly ordinal: number; readonly revision: 'current' | 'update' }[];
  /** Pods that ended, which are deleted to be recreated. */
  readonly recreate: readonly StoredPod[];
  /** Pods above the wanted number, highest first. */
  readonly superfluous: readonly StoredPod[];
  /** Pods that are deleted because of their old template. */
  readonly outdated: readonly StoredPod[];
}

/** The most pods created in one run: a set may request more than fit into memory. */
const mostMadeAtOnce = 500;

const nothing: NextSteps = { create: [], recreate: [], superfluous: [], outdated: [] };

/**
 * The next steps towards the desired pods. With OrderedReady there is one step at a time: a pod is made or removed only
 * while all before it are available. With Parallel missing and superfluous pods do not wait for each other. Outdated
 * pods are replaced from the end once nothing is missing.
 */
export function nextSteps(state: SetState): NextSteps {
  const { set } = state;
  if (set.metadata.deletionTimestamp !== undefined) return nothing;
  const { start, end } = ordinalsOf(set);
  const wanted = new Map<number, StoredPod>();
  const superfluous: StoredPod[] = [];
  for (const pod of state.pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal === undefined) continue;
    if (ordinal >= start && ordinal < end) wanted.set(ordinal, pod);
    else superfluous.push(pod);
  }
  superfluous.sort((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
  return set.spec.podManagementPolicy === 'Parallel'
    ? parallelSteps(state, wanted, superfluous)
    : orderedSteps(state, wanted, superfluous);
}

function orderedSteps(
  state: SetState,
  wanted: ReadonlyMap<number, StoredPod>,
  superfluous: readonly StoredPod[],
): NextSteps {
  const { start, end } = ordinalsOf(state.set);
  for (let ordinal = start; ordinal < end; ordinal++) {
    const pod = wanted.get(ordinal);
    if (pod === undefined) return { ...nothing, create: [{ ordinal, revision: revisionFor(state, ordinal) }] };
    if (isTerminating(pod)) return nothing;
    if (isPodFinished(pod)) return { ...nothing, recreate: [pod] };
    if (!isAvailable(state, pod)) return nothing;
  }
  const [last] = superfluous;
  if (last === undefined) return { ...nothing, outdated: outdatedPods(state, wanted) };
  if (isTerminating(last)) return nothing;
  // Only the first pod that is not available may be removed in that state: otherwise earlier pods would stay
  // unavailable.
  const unwell = [...superfluous].reverse().find((pod) => isTerminating(pod) || !isRunningAndReady(pod));
  const isBlocked = !isAvailable(state, last) && last !== unwell;
  return isBlocked ? nothing : { ...nothing, superfluous: [last] };
}

function parallelSteps(
  state: SetState,
  wanted: ReadonlyMap<number, StoredPod>,
  superfluous: readonly StoredPod[],
): NextSteps {
  const { start, end } = ordinalsOf(state.set);
  const create: { ordinal: number; revision: 'current' | 'update' }[] = [];
  for (let ordinal = start; ordinal < end && create.length < mostMadeAtOnce; ordinal++) {
    if (!wanted.has(ordinal)) create.push({ ordinal, revision: revisionFor(state, ordinal) });
  }
  const recreate = [...wanted.values()].filter((pod) => isPodFinished(pod) && !isTerminating(pod));
  const going = superfluous.filter((pod) => !isTerminating(pod));
  const isMoving = recreate.length > 0;
  return { create, recreate, superfluous: going, outdated: isMoving ? [] : outdatedPods(state, wanted) };
}

/** Pods below the partition of a rolling update are made from the old revision. */
function revisionFor({ set }: SetState, ordinal: number): 'current' | 'update' {
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type === 'OnDelete') return 'update';
  return ordinal < ordinalsOf(set).start + (rollingUpdate?.partition ?? 0) ? 'current' : 'update';
}

/** Pods to replace, from the end down to the partition, as long as not too many are unavailable. */
function outdatedPods(state: SetState, wanted: ReadonlyMap<number, StoredPod>): StoredPod[] {
  const { set, updateRevision } = state;
  const { type, rollingUpdate } = set.spec.updateStrategy;
  if (type === 'OnDelete') return [];
  const { start, end } = ordinalsOf(set);
  const lowest = start + (rollingUpdate?.partition ?? 0);
  const most = rollingUpdate?.maxUnavailable;
  const isWell = (pod: StoredPod | undefined) => pod !== undefined && !isTerminating(pod) && isAvailable(state, pod);
  const isOld = (pod: StoredPod | undefined) =>
    pod !== undefined && !isTerminating(pod) && podRevisionOf(pod) !== updateRevision;
  if (most === undefined) {
    for (let ordinal = end - 1; ordinal >= lowest; ordinal--) {
      const pod = wanted.get(ordinal);
      if (pod !== undefined && isOld(pod)) return [pod];
      if (!isWell(pod)) return [];
    }
    return [];
  }
  // Iterates over existing pods only, as a set may request any number of pods.
  const present = [...wanted].sort(([a], [b]) => b - a);
  const unwell = end - start - present.filter(([, pod]) => isWell(pod)).length;
  let allowed = Math.max(1, shareOf(most, end - start, 'down')) - unwell;
  const outdated: StoredPod[] = [];
  for (const [ordinal, pod] of present) {
    if (ordinal < lowest) break;
    if (!isOld(pod)) continue;
    // Replacing an old pod that is unavailable anyway costs nothing.
    if (isWell(pod)) {
      if (allowed <= 0) break;
      allowed -= 1;
    }
    outdated.push(pod);
  }
  return outdated;
}

export function isTerminating({ metadata }: StoredPod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isRunningAndReady(pod: StoredPod): boolean {
  return pod.status.phase === 'Running' && isPodReady(pod);
}

function isAvailable({ set, now }: SetState, pod: StoredPod): boolean {
  return isRunningAndReady(pod) && isPodAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}
