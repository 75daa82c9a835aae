import { always, type Infer, kind, pointer, quantity, required, string } from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const csiStorageCapacity = kind(
  { group: 'storage', version: 'v1', kind: 'CSIStorageCapacity', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    nodeTopology: pointer(2, labelSelector),
    storageClassName: required(3, string),
    capacity: pointer(4, quantity),
    maximumVolumeSize: pointer(5, quantity),
  },
);
export type CSIStorageCapacity = Infer<typeof csiStorageCapacity>;

export const csiStorageCapacityList = listKind(csiStorageCapacity);
export type CSIStorageCapacityList = Infer<typeof csiStorageCapacityList>;
