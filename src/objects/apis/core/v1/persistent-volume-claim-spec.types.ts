import {
  always,
  enumOf,
  type Infer,
  list,
  optional,
  pointer,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { typedLocalObjectReference, typedObjectReference } from './reference.types.js';
import { volumeResourceRequirements } from './resources.types.js';

export const persistentVolumeAccessMode = enumOf('ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod');
export type PersistentVolumeAccessMode = Infer<typeof persistentVolumeAccessMode>;

export const persistentVolumeMode = enumOf('Block', 'Filesystem');
export type PersistentVolumeMode = Infer<typeof persistentVolumeMode>;

export const persistentVolumeClaimSpec = struct(
  'core.v1.PersistentVolumeClaimSpec',
  {
    accessModes: optional(1, list(persistentVolumeAccessMode), { doc: 'How it must be mountable.' }),
    selector: pointer(4, labelSelector, { doc: 'Labels of volumes to choose from.' }),
    resources: always(2, volumeResourceRequirements, { doc: 'Wanted size.' }),
    volumeName: optional(3, string, { doc: 'The volume that was found, or must be used.' }),
    storageClassName: pointer(5, string, { doc: 'Wanted class.' }),
    volumeMode: pointer(6, persistentVolumeMode, { doc: 'Filesystem or Block.' }),
    dataSource: pointer(7, typedLocalObjectReference, { doc: 'Snapshot or claim to fill the volume from.' }),
    dataSourceRef: pointer(8, typedObjectReference, { doc: 'Object of any kind to fill the volume from.' }),
    volumeAttributesClassName: pointer(9, string),
  },
  { doc: 'What storage is wanted.' },
);
export type PersistentVolumeClaimSpec = Infer<typeof persistentVolumeClaimSpec>;
