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
} from '../../../machinery/schema/index.js';
import { topologySelectorTerm } from '../../core/v1/node-selector.types.js';
import { persistentVolumeReclaimPolicy } from '../../core/v1/persistent-volume.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const volumeBindingMode = enumOf('Immediate', 'WaitForFirstConsumer');
export type VolumeBindingMode = Infer<typeof volumeBindingMode>;

export const storageClass = kind(
  { group: 'storage', version: 'v1', kind: 'StorageClass', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    provisioner: required(2, string),
    parameters: optional(3, map(string)),
    reclaimPolicy: pointer(4, persistentVolumeReclaimPolicy),
    mountOptions: optional(5, list(string)),
    allowVolumeExpansion: pointer(6, bool),
    volumeBindingMode: pointer(7, volumeBindingMode),
    allowedTopologies: optional(8, list(topologySelectorTerm)),
  },
);
export type StorageClass = Infer<typeof storageClass>;

export const storageClassList = listKind(storageClass);
export type StorageClassList = Infer<typeof storageClassList>;
