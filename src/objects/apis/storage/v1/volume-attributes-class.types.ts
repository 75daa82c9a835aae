import { always, type Infer, kind, map, optional, required, string } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

/** The kind VolumeAttributesClass, which is the same in both versions. */
export function volumeAttributesClassKind(version: 'v1' | 'v1beta1') {
  return kind(
    { group: 'storage', version, kind: 'VolumeAttributesClass', scope: 'Cluster' },
    {
      metadata: always(1, objectMeta),
      driverName: required(2, string, { doc: 'Driver that knows the attributes.' }),
      parameters: optional(3, map(string), { doc: 'The attributes.' }),
    },
    { doc: 'Attributes of volumes that can change while they are used.' },
  );
}

export const volumeAttributesClass = volumeAttributesClassKind('v1');
export type VolumeAttributesClass = Infer<typeof volumeAttributesClass>;

export const volumeAttributesClassList = listKind(volumeAttributesClass);
export type VolumeAttributesClassList = Infer<typeof volumeAttributesClassList>;
