import type { Infer } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { csiStorageCapacityKind } from '../v1/csi-storage-capacity.types.js';

export const csiStorageCapacity = csiStorageCapacityKind('v1beta1');
export type CSIStorageCapacity = Infer<typeof csiStorageCapacity>;

export const csiStorageCapacityList = listKind(csiStorageCapacity);
export type CSIStorageCapacityList = Infer<typeof csiStorageCapacityList>;
