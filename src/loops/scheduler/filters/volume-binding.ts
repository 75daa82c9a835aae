import type { StorageClass } from '../../../objects/apis/storage/v1/storage-class.types.js';
import type { SchedulingView } from '../cluster.js';
import { type Filter, type FilterRefusal, type NodeFilter, type PodRefusal, refusal } from '../filter.js';
import type { NodeInfo } from '../node-info.js';
import type { PodInfo, UsedClaim } from '../pod-info.js';
import {
  classOf,
  isBound,
  isProvidedOn,
  isReachable,
  type StoredClaim,
  type StoredVolume,
  volumesFor,
} from '../volumes.js';

const name = 'VolumeBinding';
const elsewhere = refusal(name, "node(s) didn't match PersistentVolume's node affinity", true);
const withoutVolume = refusal(name, 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)', true);
const notAvailable = refusal(name, "node(s) didn't find available persistent volumes to bind", true);
const noProvisioner = (labelPrefix: string) => `${labelPrefix}/no-provisioner`;

/** The plan for a claim that waits for its first pod, once that pod has a node. */
export type ClaimPlan =
  | { readonly claim: StoredClaim; readonly kind: 'bind'; readonly volume: StoredVolume }
  | { readonly claim: StoredClaim; readonly kind: 'provision' };

interface WaitingClaim {
  readonly claim: StoredClaim;
  readonly storageClass: StorageClass;
  readonly candidates: readonly StoredVolume[];
  /** The node for which the volume is being made already. */
  readonly selected: string | undefined;
}

/** The claims of a pod by what has to be done with them. */
interface SortedClaims {
  readonly volumes: readonly (StoredVolume | undefined)[];
  readonly waiting: readonly WaitingClaim[];
}

function refuse(text: string): PodRefusal {
  return { refusal: refusal(name, text, true) };
}

function sorted(pod: PodInfo, cluster: SchedulingView): SortedClaims | PodRefusal {
  const volumes: (StoredVolume | undefined)[] = [];
  const waiting: WaitingClaim[] = [];
  const { clusterObjects, labelPrefix } = cluster;
  let hasUnbound = false;
  for (const used of pod.claims) {
    const claim = clusterObjects.claim?.(pod.namespace, used.name);
    const problem = claimProblem(pod, used, claim);
    if (claim === undefined || problem !== undefined) return refuse(problem as string);
    if (isBound(claim, labelPrefix)) {
      volumes.push(clusterObjects.volume?.(claim.spec.volumeName as string));
      continue;
    }
    const className = classOf(claim, labelPrefix);
    const storageClass = clusterObjects.storageClass?.(className);
    if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer' || claim.spec.volumeName) {
      hasUnbound = true;
      continue;
    }
    const candidates = volumesFor(claim, clusterObjects.volumesOfClass?.(className) ?? []);
    const selected = claim.metadata.annotations?.[`volume.${labelPrefix}/selected-node`];
    waiting.push({ claim, storageClass, candidates, selected });
  }
  return hasUnbound ? refuse('pod has unbound immediate PersistentVolumeClaims') : { volumes, waiting };
}

/** Why no node can help with a claim. */
function claimProblem(pod: PodInfo, { name: claimName, isOwn }: UsedClaim, claim: StoredClaim | undefined) {
  if (claim === undefined) {
    return isOwn
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${claimName}"`
      : `persistentvolumeclaim "${claimName}" not found`;
  }
  const { metadata, spec, status } = claim;
  if (metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${claimName}" is being deleted`;
  if (status?.phase === 'Lost') {
    return `persistentvolumeclaim "${claimName}" bound to non-existent persistentvolume "${spec.volumeName ?? ''}"`;
  }
  if (isOwn && !metadata.ownerReferences?.some(({ uid }) => uid === pod.uid)) {
    const { namespace } = pod;
    return `PVC ${namespace}/${claimName} was not created for pod ${namespace}/${pod.name} (pod is not owner)`;
  }
  return undefined;
}

/** The plan for the waiting claims on a node; undefined when it is impossible there. */
function plansOn(
  { waiting }: SortedClaims,
  node: NodeInfo,
  { labelPrefix }: SchedulingView,
): readonly ClaimPlan[] | undefined {
  const plans: ClaimPlan[] = [];
  const taken = new Set<StoredVolume>();
  for (const { claim, storageClass, candidates, selected } of waiting) {
    if (selected !== undefined && selected !== node.name) return undefined;
    const volume = candidates.find((candidate) => !taken.has(candidate) && isReachable(candidate, node));
    if (volume !== undefined && selected === undefined) {
      taken.add(volume);
      plans.push({ claim, kind: 'bind', volume });
      continue;
    }
    const { provisioner } = storageClass;
    if (!provisioner || provisioner === noProvisioner(labelPrefix) || !isProvidedOn(storageClass, node))
      return undefined;
    plans.push({ claim, kind: 'provision' });
  }
  return plans;
}

/** What has to be done with claims before the pod can be bound to this node; empty when all are bound. */
export function claimPlans(pod: PodInfo, nodeName: string, cluster: SchedulingView): readonly ClaimPlan[] {
  if (pod.claims.length === 0) return [];
  const claims = sorted(pod, cluster);
  const node = cluster.node(nodeName);
  if ('refusal' in claims || node === undefined) return [];
  return plansOn(claims, node, cluster) ?? [];
}

/** Checks the volumes of bound claims, and the plans for claims that wait for a pod. */
export const volumeBinding: Filter = {
  name,
  prepare(pod, cluster): NodeFilter | PodRefusal | undefined {
    if (pod.claims.length === 0) return undefined;
    const claims = sorted(pod, cluster);
    if ('refusal' in claims) return claims;
    const check = (node: NodeInfo): FilterRefusal | undefined => {
      for (const volume of claims.volumes) {
        if (volume === undefined) return withoutVolume;
        if (!isReachable(volume, node)) return elsewhere;
      }
      return claims.waiting.length > 0 && plansOn(claims, node, cluster) === undefined ? notAvailable : undefined;
    };
    return { check };
  },
};
