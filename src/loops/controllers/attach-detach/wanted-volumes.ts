import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import { ephemeralClaimName, foreignClaimProblem, type StoredClaim } from '../ephemeral-volume/ephemeral-claims.js';
import type { StoredPod } from '../frame/indexes.js';
import {
  type AttachableVolume,
  attachableInline,
  attachableVolume,
  type StoredDriver,
  type StoredVolume,
} from './attachable-volume.js';

/** Where claims, volumes and drivers are found. */
export interface VolumeLookup {
  readonly labelPrefix: string;
  claim(namespace: string, name: string): StoredClaim | undefined;
  volume(name: string): StoredVolume | undefined;
  driver(name: string): StoredDriver | undefined;
}

/** Whether a pod may have volumes that have to be attached. */
export function mayAttach({ spec }: Readonly<StoredPod>): boolean {
  return (spec.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral, iscsi, fc }) =>
      persistentVolumeClaim !== undefined || ephemeral !== undefined || iscsi !== undefined || fc !== undefined,
  );
}

/**
 * Whether a pod no longer needs its volumes: it has ended, or it is being deleted and none of its containers runs. The
 * node may still have to unmount them.
 */
export function hasLeftVolumes({ metadata, status }: Readonly<StoredPod>): boolean {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return true;
  if (metadata.deletionTimestamp === undefined) return false;
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].every(
    ({ state }) => state?.running === undefined,
  );
}

/** The name of the claim that a volume of a pod stands for. */
export function volumeClaimName(pod: Readonly<StoredPod>, volume: Readonly<Volume>): string | undefined {
  if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName;
  return volume.ephemeral === undefined ? undefined : ephemeralClaimName(pod, volume);
}

/**
 * What must be attached for one volume of a pod. Undefined: nothing; `unknown`: its claim is not bound or its volume is
 * missing.
 */
export function attachmentOf(
  pod: Readonly<StoredPod>,
  podVolume: Readonly<Volume>,
  lookup: VolumeLookup,
): AttachableVolume | 'unknown' | undefined {
  const claimName = volumeClaimName(pod, podVolume);
  if (claimName === undefined) return attachableInline(podVolume, lookup.labelPrefix);
  const claim = lookup.claim(pod.metadata.namespace ?? '', claimName);
  if (claim === undefined || claim.status?.phase !== 'Bound' || !claim.spec.volumeName) return 'unknown';
  if (podVolume.ephemeral !== undefined && foreignClaimProblem(pod, claim) !== undefined) return 'unknown';
  const volume = lookup.volume(claim.spec.volumeName);
  if (volume === undefined || volume.spec.claimRef?.uid !== claim.metadata.uid) return 'unknown';
  return attachableVolume(volume, (name) => lookup.driver(name), lookup.labelPrefix);
}
