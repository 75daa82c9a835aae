import type { Infer } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { volumeAttributesClassKind } from '../v1/volume-attributes-class.types.js';

export const volumeAttributesClass = volumeAttributesClassKind('v1beta1');
export type VolumeAttributesClass = Infer<typeof volumeAttributesClass>;

export const volumeAttributesClassList = listKind(volumeAttributesClass);
export type VolumeAttributesClassList = Infer<typeof volumeAttributesClassList>;
