import {
  always,
  bool,
  enumOf,
  type Infer,
  kind,
  list,
  map,
  optional,
  pointer,
  required,
  string,
} from '../../../../base/machinery/schema/index.js';
import { topologySelectorTerm } from '../../core/v1/node-selector.types.js';
import { persistentVolumeReclaimPolicy } from '../../core/v1/persistent-volume.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const volumeBindingMode = enumOf('Immediate', 'WaitForFirstConsumer');
export type VolumeBindingMode = Infer<typeof volumeBindingMode>;

/** The kind StorageClass, which is the same in both versions. */
export function storageClassKind(version: 'v1' | 'v1beta1') {
  return kind(
    { group: 'storage', version, kind: 'StorageClass', scope: 'Cluster' },
    {
      metadata: always(1, objectMeta),
      provisioner: required(2, string, { doc: 'Who makes the volumes.' }),
      parameters: optional(3, map(string), { doc: 'Settings for whoever makes the volumes.' }),
      reclaimPolicy: pointer(4, persistentVolumeReclaimPolicy, { doc: 'What happens to volumes without a claim.' }),
      mountOptions: optional(5, list(string), { doc: 'Options for mounting.' }),
      allowVolumeExpansion: pointer(6, bool, { doc: 'Whether volumes may grow.' }),
      volumeBindingMode: pointer(7, volumeBindingMode, { doc: 'Immediate or WaitForFirstConsumer.' }),
      allowedTopologies: optional(8, list(topologySelectorTerm), { doc: 'Where volumes may be made.' }),
    },
    { doc: 'A way to make volumes.' },
  );
}

export const storageClass = storageClassKind('v1');
export type StorageClass = Infer<typeof storageClass>;

export const storageClassList = listKind(storageClass);
export type StorageClassList = Infer<typeof storageClassList>;
