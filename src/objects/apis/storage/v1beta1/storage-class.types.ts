import type { Infer } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { storageClassKind } from '../v1/storage-class.types.js';

export const storageClass = storageClassKind('v1beta1');
export type StorageClass = Infer<typeof storageClass>;

export const storageClassList = listKind(storageClass);
export type StorageClassList = Infer<typeof storageClassList>;
