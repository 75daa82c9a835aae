import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';
import { accessModesText } from '../cells.js';
import { volumeClassColumns } from '../volume-class-columns.js';

/** Columns of a table of volumes. */
export function persistentVolumeColumns(names: VendorNames): readonly TableColumn<PersistentVolume>[] {
  return [
    nameColumn,
    {
      name: 'Capacity',
      type: 'string',
      description: 'Its size.',
      cell: ({ spec }) => spec.capacity?.storage ?? '0',
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'How it may be mounted.',
      cell: ({ spec }) => accessModesText(spec.accessModes),
    },
    {
      name: 'Reclaim Policy',
      type: 'string',
      description: 'What happens when its claim goes.',
      cell: ({ spec }) => spec.persistentVolumeReclaimPolicy ?? '',
    },
    {
      name: 'Status',
      type: 'string',
      description: 'Phase, or Terminating while it is being deleted.',
      cell: ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating'),
    },
    {
      name: 'Claim',
      type: 'string',
      description: 'Namespace and name of the claim it is bound to.',
      cell: ({ spec }) =>
        spec.claimRef === undefined ? '' : `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}`,
    },
    ...volumeClassColumns(names),
    {
      name: 'Reason',
      type: 'string',
      description: 'Why it is in this phase.',
      cell: ({ status }) => status.reason ?? '',
    },
    ageColumn,
    {
      name: 'VolumeMode',
      type: 'string',
      priority: 1,
      description: 'Filesystem or raw block device.',
      cell: ({ spec }) => spec.volumeMode ?? '<unset>',
    },
  ];
}
