import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { VolumeAnnotations } from '../../../base/machinery/volume-annotations.js';
import type { StoredClaim, StoredVolume } from '../../scheduler/volumes.js';
import { isMeantFor } from './match-volume.js';
import { Taken } from './taken.js';

type ClaimStatus = StoredClaim['status'];
export type VolumePhase = 'Available' | 'Bound' | 'Released' | 'Failed';

/**
 * Returns the volume with a reference to the claim, or undefined when nothing has to be written. May change `live`.
 *
 * @throws Taken when the volume names another claim
 */
export function boundVolume(live: StoredVolume, claim: StoredClaim, keys: VolumeAnnotations): StoredVolume | undefined {
  const { name, namespace, uid, resourceVersion } = claim.metadata;
  const wasMeant = isMeantFor(live, claim);
  if (live.spec.claimRef !== undefined && !wasMeant) throw new Taken();
  if (wasMeant && live.spec.claimRef?.uid === uid) return undefined;
  if (live.metadata.deletionTimestamp !== undefined) throw new Taken();
  live.spec.claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
  if (!wasMeant) live.metadata.annotations = { ...live.metadata.annotations, [keys.boundByController]: 'yes' };
  return live;
}

/** Returns the claim with the name of the volume; see {@link boundVolume}. */
export function boundClaim(live: StoredClaim, volumeName: string, keys: VolumeAnnotations): StoredClaim | undefined {
  const { annotations = {} } = live.metadata;
  const isNamed = live.spec.volumeName === volumeName;
  if (live.spec.volumeName && !isNamed) throw new Taken();
  if (isNamed && annotations[keys.bindCompleted] !== undefined) return undefined;
  live.spec.volumeName = volumeName;
  live.metadata.annotations = {
    ...annotations,
    [keys.bindCompleted]: 'yes',
    ...(isNamed ? {} : { [keys.boundByController]: 'yes' }),
  };
  return live;
}

/**
 * Returns the volume without the claim that no longer wants it. A volume reserved for a claim by name stays reserved
 * for that name.
 */
export function unboundVolume(live: StoredVolume, keys: VolumeAnnotations): StoredVolume {
  const { [keys.boundByController]: byController, ...others } = live.metadata.annotations ?? {};
  if (byController === undefined) {
    const { uid: _gone, resourceVersion: _old, ...claimRef } = live.spec.claimRef ?? {};
    live.spec.claimRef = claimRef;
  } else {
    delete live.spec.claimRef;
    live.metadata.annotations = others;
  }
  return live;
}

/** The status of a volume in a phase. */
export function volumeStatus(phase: VolumePhase, now: string, message?: string): StoredVolume['status'] {
  return { phase, ...(message === undefined ? {} : { message }), lastPhaseTransitionTime: now };
}

/** The status of a claim in a phase; `volume` is the one that it is bound to. */
export function claimStatus(
  status: ClaimStatus,
  phase: 'Pending' | 'Bound' | 'Lost',
  volume?: StoredVolume,
): ClaimStatus {
  const next: ClaimStatus = { ...status, phase };
  if (volume === undefined) {
    delete next.accessModes;
    delete next.capacity;
    return next;
  }
  if (volume.spec.accessModes !== undefined) next.accessModes = volume.spec.accessModes;
  // The component that expands a bound claim's volume reports its size.
  if (status.phase !== 'Bound' || status.capacity?.storage === undefined) next.capacity = { ...volume.spec.capacity };
  const attributes = volume.spec.volumeAttributesClassName;
  if (status.phase !== 'Bound' && attributes !== undefined) next.currentVolumeAttributesClassName = attributes;
  return deepEqual(next, status) ? status : next;
}
