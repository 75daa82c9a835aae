import {
  always,
  enumOf,
  type Infer,
  list,
  optional,
  pointer,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { typedLocalObjectReference, typedObjectReference } from './reference.types.js';
import { volumeResourceRequirements } from './resources.types.js';

export const persistentVolumeAccessMode = enumOf('ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod');
export type PersistentVolumeAccessMode = Infer<typeof persistentVolumeAccessMode>;

export const persistentVolumeMode = enumOf('Block', 'Filesystem');
export type PersistentVolumeMode = Infer<typeof persistentVolumeMode>;

export const persistentVolumeClaimSpec = struct('core.v1.PersistentVolumeClaimSpec', {
  accessModes: optional(1, list(persistentVolumeAccessMode)),
  selector: pointer(4, labelSelector),
  resources: always(2, volumeResourceRequirements),
  volumeName: optional(3, string),
  storageClassName: pointer(5, string),
  volumeMode: pointer(6, persistentVolumeMode),
  dataSource: pointer(7, typedLocalObjectReference),
  dataSourceRef: pointer(8, typedObjectReference),
  volumeAttributesClassName: pointer(9, string),
});
export type PersistentVolumeClaimSpec = Infer<typeof persistentVolumeClaimSpec>;
