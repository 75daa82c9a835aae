import { compareQuantities } from '../../../base/machinery/values/quantity.js';
import { selectorFrom } from '../../scheduler/affinity-terms.js';
import type { StoredClaim, StoredVolume } from '../../scheduler/volumes.js';

/** The class of a claim or volume; '' for none. */
export function classOf({ metadata, spec }: StoredClaim | StoredVolume, classAnnotation: string): string {
  return metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '';
}

/** Whether a volume names this claim, or was reserved by name for a claim of this name before the claim existed. */
export function isMeantFor({ spec }: StoredVolume, { metadata }: StoredClaim): boolean {
  const { claimRef } = spec;
  return (
    claimRef !== undefined &&
    claimRef.name === metadata.name &&
    claimRef.namespace === metadata.namespace &&
    (!claimRef.uid || claimRef.uid === metadata.uid)
  );
}

const modeOf = ({ spec }: StoredClaim | StoredVolume) => spec.volumeMode ?? 'Filesystem';
const sizeOf = ({ spec }: StoredVolume) => spec.capacity?.storage ?? '0';

/** Whether the volume is free and was never bound. */
export function isAvailable({ metadata, spec, status }: StoredVolume): boolean {
  return metadata.deletionTimestamp === undefined && spec.claimRef === undefined && status.phase === 'Available';
}

/** Why a claim can't have the volume that it asks for by name; undefined: it can. */
export function mismatch(claim: StoredClaim, volume: StoredVolume, classAnnotation: string): string | undefined {
  const wanted = claim.spec.resources?.requests?.storage ?? '0';
  if (volume.metadata.deletionTimestamp !== undefined)
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  if (compareQuantities(sizeOf(volume), wanted) < 0) return 'requested PV is too small';
  if (classOf(volume, classAnnotation) !== classOf(claim, classAnnotation)) {
    return 'storageClassName does not match';
  }
  if ((volume.spec.volumeAttributesClassName ?? '') !== (claim.spec.volumeAttributesClassName ?? '')) {
    return 'VolumeAttributesClassName does not match';
  }
  if (modeOf(volume) !== modeOf(claim)) return 'incompatible volumeMode';
  return hasModes(volume, claim) ? undefined : 'incompatible accessMode';
}

function hasModes({ spec }: StoredVolume, claim: StoredClaim): boolean {
  return (claim.spec.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode));
}

/** Whether claim and volume differ in being a file system or a raw device. */
export function differsInMode(claim: StoredClaim, volume: StoredVolume): boolean {
  return modeOf(claim) !== modeOf(volume);
}

/** Whether a claim could use the storage of a volume of its class, apart from its labels. */
export function mayHave(claim: StoredClaim, volume: StoredVolume): boolean {
  return (
    volume.metadata.deletionTimestamp === undefined &&
    modeOf(volume) === modeOf(claim) &&
    (volume.spec.volumeAttributesClassName ?? '') === (claim.spec.volumeAttributesClassName ?? '') &&
    hasModes(volume, claim) &&
    compareQuantities(sizeOf(volume), claim.spec.resources?.requests?.storage ?? '0') >= 0
  );
}

export interface Choice {
  /** Volumes that name the claim. */
  readonly meant: Iterable<StoredVolume>;
  /** Other volumes of the claim's class. */
  readonly ofClass: Iterable<StoredVolume>;
}

/**
 * The volume for a claim that asks for none by name: one that names the claim, else the available one that allows the
 * fewest further access modes, the smallest among those.
 */
export function chooseVolume(claim: StoredClaim, { meant, ofClass }: Choice): StoredVolume | undefined {
  for (const volume of meant) if (isMeantFor(volume, claim) && mayHave(claim, volume)) return volume;
  const { selector } = claim.spec;
  const labels = selector === undefined ? undefined : selectorFrom(selector);
  let best: StoredVolume | undefined;
  for (const volume of ofClass) {
    if (!isAvailable(volume) || !mayHave(claim, volume)) continue;
    if (labels !== undefined && !labels.matches(volume.metadata.labels)) continue;
    if (best === undefined || isBetter(volume, best)) best = volume;
  }
  return best;
}

function isBetter(volume: StoredVolume, best: StoredVolume): boolean {
  const modes = (volume.spec.accessModes?.length ?? 0) - (best.spec.accessModes?.length ?? 0);
  return modes < 0 || (modes === 0 && compareQuantities(sizeOf(volume), sizeOf(best)) < 0);
}

/** How long a new volume is reserved for a claim that names it, in milliseconds. */
const reservationMs = 2000;

/**
 * How much longer a new volume is kept from a claim that has waited for any volume, in milliseconds: a user who makes a
 * volume for a claim that names it makes that claim right afterwards.
 */
export function reservedMs(volume: StoredVolume, claim: StoredClaim, now: number): number {
  const made = Date.parse(volume.metadata.creationTimestamp ?? '');
  const isWaiting = Date.parse(claim.metadata.creationTimestamp ?? '') < made;
  // The clocks of other processes may be wrong.
  return isWaiting ? Math.min(made + reservationMs - now, reservationMs) : 0;
}
