import {
  always,
  type Infer,
  kind,
  pointer,
  quantity,
  required,
  string,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

/** The kind CSIStorageCapacity, which is the same in both versions. */
export function csiStorageCapacityKind(version: 'v1' | 'v1beta1') {
  return kind(
    { group: 'storage', version, kind: 'CSIStorageCapacity', scope: 'Namespaced' },
    {
      metadata: always(1, objectMeta),
      nodeTopology: pointer(2, labelSelector, { doc: 'Nodes that can reach the storage.' }),
      storageClassName: required(3, string, { doc: 'The class.' }),
      capacity: pointer(4, quantity, { doc: 'What is left.' }),
      maximumVolumeSize: pointer(5, quantity, { doc: 'Largest volume that can be made.' }),
    },
    { doc: 'Storage left for a class in a part of the cluster.' },
  );
}

export const csiStorageCapacity = csiStorageCapacityKind('v1');
export type CSIStorageCapacity = Infer<typeof csiStorageCapacity>;

export const csiStorageCapacityList = listKind(csiStorageCapacity);
export type CSIStorageCapacityList = Infer<typeof csiStorageCapacityList>;
