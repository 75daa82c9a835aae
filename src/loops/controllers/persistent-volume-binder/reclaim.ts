import type { VolumeAnnotations } from '../../../base/machinery/volume-annotations.js';
import type { StoredVolume } from '../../scheduler/volumes.js';
import { isBuiltIn } from './provisioning.js';

/** Why a volume whose claim is gone can't be used again. */
export interface ReclaimFailure {
  readonly reason: string;
  readonly message: string;
}

/**
 * Why the reclaim policy of a released volume can't be carried out; undefined: nothing has to be done here. The
 * provisioner of a volume also removes it, and volumes are never wiped.
 */
export function reclaimFailure(
  { metadata, spec }: StoredVolume,
  annotations: VolumeAnnotations,
  labelPrefix: string,
): ReclaimFailure | undefined {
  const { persistentVolumeReclaimPolicy: policy = 'Retain' } = spec;
  if (policy === 'Recycle') {
    return { reason: 'VolumeFailedRecycle', message: 'No recycler plugin found for the volume!' };
  }
  if (policy !== 'Delete' || metadata.deletionTimestamp !== undefined) return undefined;
  const maker = metadata.annotations?.[annotations.provisionedBy];
  const wasMovedTo = metadata.annotations?.[annotations.migratedTo];
  if (wasMovedTo !== undefined || (maker !== undefined && !isBuiltIn(maker, labelPrefix))) return undefined;
  const message =
    maker === undefined
      ? `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`
      : `error getting deleter volume plugin for volume "${metadata.name}": no volume plugin matched name: ${maker}`;
  return { reason: 'VolumeFailedDelete', message };
}
