import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type PersistentVolume, persistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { persistentVolumeColumns } from './persistent-volume.columns.js';
import { applyPersistentVolumeDefaults } from './persistent-volume.defaults.js';
import { validatePersistentVolume, validatePersistentVolumeUpdate } from './persistent-volume.validation.js';

/** PersistentVolumes: storage that claims bind to. */
export function persistentVolumeResource(names: VendorNames): ResourceDefinition {
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
        object.status = { phase: 'Pending' };
      },
      validate: (_context, object) => validatePersistentVolume(object, names),
      validateUpdate: (_context, object, old) => validatePersistentVolumeUpdate(object, old, names),
    },
    strategyOptions: { returnsDeletedObject: true },
    columns: persistentVolumeColumns(names),
    subresources: [statusSubresource<PersistentVolume>()],
  });
}
