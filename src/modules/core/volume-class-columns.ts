import type { ApiObject } from '../../base/machinery/api-object.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { TableColumn } from '../../objects/registry/resource-definition.js';

/** A volume, or a claim of one. */
interface WithClasses extends ApiObject {
  readonly spec: { readonly storageClassName?: string; readonly volumeAttributesClassName?: string };
}

/** The columns for the classes of volumes and claims. */
export function volumeClassColumns({ labelPrefix }: VendorNames): readonly TableColumn<WithClasses>[] {
  const classAnnotation = `volume.beta.${labelPrefix}/storage-class`;
  return [
    {
      name: 'StorageClass',
      type: 'string',
      description: 'The class of the storage.',
      cell: ({ metadata, spec }) => metadata.annotations?.[classAnnotation] ?? spec.storageClassName ?? '',
    },
    {
      name: 'VolumeAttributesClass',
      type: 'string',
      description: 'The class of the attributes that may change.',
      cell: ({ spec }) => spec.volumeAttributesClassName ?? '<unset>',
    },
  ];
}
