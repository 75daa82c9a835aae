import type { ApiObject } from '../../base/machinery/api-object.js';
import { compareQuantities } from '../../base/machinery/values/quantity.js';
import type { PersistentVolume } from '../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { StorageClass } from '../../objects/apis/storage/v1/storage-class.types.js';
import { selectorFrom } from './affinity-terms.js';
import type { NodeInfo } from './node-info.js';
import { nodeTermsTest } from './node-selection.js';

export type StoredClaim = PersistentVolumeClaim & ApiObject;
export type StoredVolume = PersistentVolume & ApiObject;

/** Whether nothing has to happen before the claim can be used. */
export function isBound({ metadata, spec, status }: StoredClaim, labelPrefix: string): boolean {
  if (!spec.volumeName) return false;
  return status?.phase === 'Bound' || metadata.annotations?.[`pv.${labelPrefix}/bind-completed`] !== undefined;
}

/** The class of a claim; '' for none. */
export function classOf({ metadata, spec }: StoredClaim, labelPrefix: string): string {
  return metadata.annotations?.[`volume.beta.${labelPrefix}/storage-class`] ?? spec.storageClassName ?? '';
}

/** Whether a volume can be used on a node. */
export function isReachable({ spec }: StoredVolume, node: NodeInfo): boolean {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || terms === null || nodeTermsTest(terms)(node);
}

/** Whether volumes of the class can be made for a node. */
export function isProvidedOn({ allowedTopologies }: StorageClass, { labels }: NodeInfo): boolean {
  const terms = allowedTopologies ?? [];
  return (
    terms.length === 0 ||
    terms.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(
        ({ key, values }) => Object.hasOwn(labels, key) && (values ?? []).includes(labels[key] as string),
      ),
    )
  );
}

/** Whether no claim ever had the volume. It need not have been declared available. */
function isFresh({ status }: StoredVolume): boolean {
  const phase = status?.phase ?? 'Pending';
  return phase === 'Available' || phase === 'Pending';
}

/**
 * The volumes among `volumes` that a claim could be bound to, the smallest first; those reserved for it come before all
 * others. The caller decides which of them a node can reach.
 */
export function volumesFor(claim: StoredClaim, volumes: Iterable<StoredVolume>): StoredVolume[] {
  const { spec, metadata } = claim;
  const wanted = spec.resources?.requests?.storage ?? '0';
  const modes = spec.accessModes ?? [];
  const selector = spec.selector == null ? undefined : selectorFrom(spec.selector);
  const found: StoredVolume[] = [];
  for (const volume of volumes) {
    const { capacity, accessModes = [], volumeMode = 'Filesystem', claimRef } = volume.spec;
    if (volume.metadata.deletionTimestamp !== undefined) continue;
    const isReserved =
      claimRef != null &&
      claimRef.name === metadata.name &&
      claimRef.namespace === metadata.namespace &&
      (!claimRef.uid || claimRef.uid === metadata.uid);
    if (claimRef != null ? !isReserved : !isFresh(volume)) continue;
    if (compareQuantities(capacity?.storage ?? '0', wanted) < 0) continue;
    if (volumeMode !== (spec.volumeMode ?? 'Filesystem')) continue;
    if (!modes.every((mode) => accessModes.includes(mode))) continue;
    if (selector !== undefined && !selector.matches(volume.metadata.labels)) continue;
    found.push(volume);
  }
  const isFree = ({ spec: { claimRef } }: StoredVolume) => Number(claimRef == null);
  const size = ({ spec: { capacity } }: StoredVolume) => capacity?.storage ?? '0';
  return found.sort((a, b) => isFree(a) - isFree(b) || compareQuantities(size(a), size(b)));
}
