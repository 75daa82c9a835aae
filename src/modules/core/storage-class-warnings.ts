import type { VendorNames } from '../../base/machinery/vendor.js';
import type { ObjectMeta } from '../../objects/apis/meta/v1/object-meta.types.js';

/** The warning about the annotation that named the class of a volume or claim before a field existed. */
export function storageClassWarnings(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  { labelPrefix }: Pick<VendorNames, 'labelPrefix'>,
): string[] {
  const key = `volume.beta.${labelPrefix}/storage-class`;
  if (annotations?.[key] === undefined) return [];
  return [`metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`];
}
