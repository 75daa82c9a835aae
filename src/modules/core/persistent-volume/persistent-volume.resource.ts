import type { Clock } from '../../../base/machinery/clock.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type PersistentVolume, persistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { nodeTermWarnings, volumeKindWarnings } from '../../../objects/apis/core/v1/pod-warnings.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { storageClassWarnings } from '../storage-class-warnings.js';
import { persistentVolumeColumns } from './persistent-volume.columns.js';
import { applyPersistentVolumeDefaults } from './persistent-volume.defaults.js';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from './persistent-volume.validation.js';

/** PersistentVolumes: storage that claims bind to. */
export function persistentVolumeResource(names: VendorNames, clock: Clock): ResourceDefinition {
  return defineResource<PersistentVolume>({
    group: '',
    resource: 'persistentvolumes',
    singular: 'persistentvolume',
    kind: 'PersistentVolume',
    namespaced: false,
    shortNames: ['pv'],
    versions: [{ version: 'v1', type: persistentVolume }],
    strategy: {
      applyDefaults: applyPersistentVolumeDefaults,
      prepareForCreate(_context, object) {
        object.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(clock.now()) };
      },
      validate: (_context, object) => validatePersistentVolume(object, names),
      validateUpdate: (_context, object, old) => validatePersistentVolumeUpdate(object, old, names),
      warnings: (_context, object) => volumeWarnings(object, names),
    },
    strategyOptions: { returnsDeletedObject: true },
    columns: persistentVolumeColumns(names),
    subresources: [statusSubresource<PersistentVolume>({ keep: (object, old) => keepTransition(object, old, clock) })],
  });
}

/** Warnings about deprecated parts of a volume. */
function volumeWarnings({ metadata, spec }: PersistentVolume, names: VendorNames): string[] {
  const mount = `volume.beta.${names.labelPrefix}/mount-options`;
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return [
    ...storageClassWarnings(metadata, names),
    ...(metadata.annotations?.[mount] === undefined
      ? []
      : [`metadata.annotations[${mount}]: deprecated since v1.31; use "mountOptions" attribute instead`]),
    ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [recycleWarning] : []),
    ...nodeTermWarnings(terms, 'spec.nodeAffinity.required.nodeSelectorTerms', names),
    // Unlike that of a pod, this source of a volume brings no warning.
    ...volumeKindWarnings({ ...spec, flocker: undefined }, 'spec'),
  ];
}

const recycleWarning =
  'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

/**
 * Sets the time of the last change of the phase: a client may set it with the phase; otherwise it is the current time.
 */
function keepTransition({ status }: PersistentVolume, { status: old }: PersistentVolume, clock: Clock): void {
  const given = status.lastPhaseTransitionTime;
  if (status.phase === old.phase) {
    if (given === undefined && old.lastPhaseTransitionTime !== undefined) {
      status.lastPhaseTransitionTime = old.lastPhaseTransitionTime;
    }
  } else if (given === undefined || given === old.lastPhaseTransitionTime) {
    status.lastPhaseTransitionTime = formatTime(clock.now());
  }
}
