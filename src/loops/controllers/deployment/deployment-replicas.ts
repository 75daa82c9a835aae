import { shareOf } from '../../../base/machinery/values/int-or-string.js';
import {
  annotatedNumber,
  byAge,
  type DeploymentAnnotations,
  type StoredDeployment,
  type StoredReplicaSet,
} from './deployment-annotations.js';

/** A replica set and the number of replicas it should have. */
export interface Resize {
  readonly set: StoredReplicaSet;
  readonly replicas: number;
}

export function isRolling({ spec }: StoredDeployment): boolean {
  return spec.strategy.type === 'RollingUpdate';
}

/** The desired number of pods of a deployment. */
export function wantedReplicasOf({ spec }: StoredDeployment): number {
  return spec.replicas ?? 0;
}

export function replicasOf({ spec }: StoredReplicaSet): number {
  return spec.replicas ?? 0;
}

function availableOf({ status }: StoredReplicaSet): number {
  return status.availableReplicas ?? 0;
}

export function sumOf(sets: readonly StoredReplicaSet[], number: (set: StoredReplicaSet) => number): number {
  return sets.reduce((sum, set) => sum + number(set), 0);
}

/** Sets that should have pods. */
export function activeOf(sets: readonly StoredReplicaSet[]): StoredReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

/** How many pods may exist above the desired number during an update. */
export function maxSurge(deployment: StoredDeployment): number {
  if (!isRolling(deployment)) return 0;
  return shareOf(deployment.spec.strategy.rollingUpdate?.maxSurge ?? 0, wantedReplicasOf(deployment), 'up');
}

/**
 * How many pods may be missing during an update. If the limits allow neither missing nor additional pods, one pod may
 * be missing.
 */
export function maxUnavailable(deployment: StoredDeployment): number {
  const wanted = wantedReplicasOf(deployment);
  if (!isRolling(deployment) || wanted === 0) return 0;
  const share = shareOf(deployment.spec.strategy.rollingUpdate?.maxUnavailable ?? 0, wanted, 'down');
  const missing = share === 0 && maxSurge(deployment) === 0 ? 1 : share;
  return Math.min(missing, wanted);
}

/** The size of the new set, as large as the other sets allow. */
export function newSetReplicas(
  deployment: StoredDeployment,
  newSize: number,
  oldSets: readonly StoredReplicaSet[],
): number {
  const wanted = wantedReplicasOf(deployment);
  if (!isRolling(deployment) || newSize >= wanted) return wanted;
  const surplus = wanted + maxSurge(deployment) - newSize - sumOf(oldSets, replicasOf);
  return newSize + Math.max(0, Math.min(surplus, wanted - newSize));
}

/** The next step of a rolling update that makes old sets smaller; empty when none may lose a pod now. */
export function shrinkOldSets(
  deployment: StoredDeployment,
  newSet: StoredReplicaSet,
  oldSets: readonly StoredReplicaSet[],
): Resize[] {
  const sizes = new Map(byAge(activeOf(oldSets)).map((set) => [set, replicasOf(set)]));
  if (sizes.size === 0) return [];
  const needed = wantedReplicasOf(deployment) - maxUnavailable(deployment);
  const all = [...oldSets, newSet];
  const newMissing = replicasOf(newSet) - availableOf(newSet);
  let spare = sumOf(all, replicasOf) - needed - newMissing;
  // Pods that serve no requests are removed first.
  for (const [set, size] of sizes) {
    const count = Math.min(spare, size - availableOf(set));
    if (count <= 0) continue;
    sizes.set(set, size - count);
    spare -= count;
  }
  if (sumOf(all, replicasOf) - needed - newMissing > 0) {
    // Pods in excess of the size of their set are being removed, though its status may still count them.
    let surplus = sumOf(all, (set) => Math.min(availableOf(set), replicasOf(set))) - needed;
    for (const [set, size] of sizes) {
      const count = Math.min(surplus, size);
      if (count <= 0) continue;
      sizes.set(set, size - count);
      surplus -= count;
    }
  }
  return changes(sizes);
}

/**
 * The replicas of the sets after the deployment's number of replicas changed, or while it is paused: no rollout
 * continues meanwhile.
 */
export function scaledReplicas(
  deployment: StoredDeployment,
  newSet: StoredReplicaSet | undefined,
  oldSets: readonly StoredReplicaSet[],
  annotations: DeploymentAnnotations,
): Resize[] {
  const wanted = wantedReplicasOf(deployment);
  const only = onlyOrNewest(newSet, oldSets);
  if (only !== undefined) return [{ set: only, replicas: wanted }];
  if (newSet !== undefined && isSaturated(deployment, newSet, annotations)) {
    return activeOf(oldSets).map((set) => ({ set, replicas: 0 }));
  }
  if (!isRolling(deployment)) return [];
  return proportionalSizes(deployment, activeOf(newSet === undefined ? oldSets : [...oldSets, newSet]), annotations);
}

/** The only set with pods; without any, the new or the youngest one; undefined when several have pods. */
function onlyOrNewest(
  newSet: StoredReplicaSet | undefined,
  oldSets: readonly StoredReplicaSet[],
): StoredReplicaSet | undefined {
  const active = activeOf(newSet === undefined ? oldSets : [...oldSets, newSet]);
  if (active.length === 0) return newSet ?? byAge(oldSets).at(-1);
  return active.length === 1 ? active[0] : undefined;
}

function isSaturated(deployment: StoredDeployment, set: StoredReplicaSet, { desired }: DeploymentAnnotations): boolean {
  const wanted = wantedReplicasOf(deployment);
  return replicasOf(set) === wanted && annotatedNumber(set, desired) === wanted && availableOf(set) === wanted;
}

/** Divides the added or removed pods among sets in proportion to their sizes; the largest gets the rest. */
function proportionalSizes(
  deployment: StoredDeployment,
  sets: readonly StoredReplicaSet[],
  annotations: DeploymentAnnotations,
): Resize[] {
  const wanted = wantedReplicasOf(deployment);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  const toAdd = allowed - sumOf(sets, replicasOf);
  const oldest = byAge(sets);
  const sorted = (toAdd > 0 ? oldest.reverse() : oldest).sort((a, b) => replicasOf(b) - replicasOf(a));
  const sizes = new Map(sorted.map((set) => [set, replicasOf(set)]));
  let added = 0;
  for (const set of sorted) {
    const share = proportion(deployment, set, allowed, annotations);
    const part = toAdd > 0 ? Math.min(share, toAdd - added) : Math.max(share, toAdd - added);
    if (toAdd === 0 || toAdd === added) break;
    sizes.set(set, replicasOf(set) + part);
    added += part;
  }
  const [largest] = sorted;
  if (largest !== undefined) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added));
  return [...sizes].map(([set, replicas]) => ({ set, replicas }));
}

/** By how much a set grows when all sets together grow to `allowed`. */
function proportion(
  deployment: StoredDeployment,
  set: StoredReplicaSet,
  allowed: number,
  { max }: DeploymentAnnotations,
): number {
  const size = replicasOf(set);
  if (wantedReplicasOf(deployment) === 0) return -size;
  const before = annotatedNumber(set, max) || (deployment.status.replicas ?? 0);
  return before === 0 ? 0 : Math.round((size * allowed) / before) - size;
}

function changes(sizes: ReadonlyMap<StoredReplicaSet, number>): Resize[] {
  return [...sizes]
    .filter(([set, replicas]) => replicas !== replicasOf(set))
    .map(([set, replicas]) => ({ set, replicas }));
}
