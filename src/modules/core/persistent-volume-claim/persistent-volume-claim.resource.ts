import { isFieldGateOpen } from '../../../base/machinery/schema/index.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import { fractionalBytes } from '../../../objects/apis/core/v1/fractional-bytes.js';
import {
  type PersistentVolumeClaim,
  persistentVolumeClaim,
} from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { accessModesText } from '../cells.js';
import { storageClassWarnings } from '../storage-class-warnings.js';
import { volumeClassColumns } from '../volume-class-columns.js';
import {
  validatePersistentVolumeClaim,
  validatePersistentVolumeClaimStatus,
  validatePersistentVolumeClaimUpdate,
} from './persistent-volume-claim.validation.js';

/** PersistentVolumeClaims: requests for storage. */
export function persistentVolumeClaimResource(names: VendorNames): ResourceDefinition {
  return defineResource<PersistentVolumeClaim>({
    group: '',
    resource: 'persistentvolumeclaims',
    singular: 'persistentvolumeclaim',
    kind: 'PersistentVolumeClaim',
    namespaced: true,
    shortNames: ['pvc'],
    versions: [{ version: 'v1', type: persistentVolumeClaim }],
    strategy: {
      applyDefaults(object) {
        object.status.phase ||= 'Pending';
        object.spec.volumeMode ??= 'Filesystem';
        roundResources(object.spec.resources.limits);
        roundResources(object.spec.resources.requests);
        roundResources(object.status.capacity);
      },
      prepareForCreate(_context, object) {
        object.status = { phase: 'Pending' };
        dropForeignSource(object.spec);
        normalizeDataSource(object.spec);
      },
      prepareForUpdate(_context, object, old) {
        if (!old.spec.dataSourceRef?.namespace) dropForeignSource(object.spec);
        // Clients that know only the older field send back only that field.
        normalizeDataSource(object.spec);
      },
      validate: (_context, object) => validatePersistentVolumeClaim(object),
      validateUpdate: (_context, object, old) => validatePersistentVolumeClaimUpdate(object, old, names),
      warnings: (_context, { metadata, spec }) => [
        ...storageClassWarnings(metadata, names),
        ...fractionalBytes(spec.resources.requests?.storage, 'spec.resources.requests[storage]'),
      ],
    },
    strategyOptions: { returnsDeletedObject: true },
    columns: columns(names),
    subresources: [
      statusSubresource<PersistentVolumeClaim>({
        validate: (object) => validatePersistentVolumeClaimStatus(object, names),
      }),
    ],
  });
}

function columns(names: VendorNames): readonly TableColumn<PersistentVolumeClaim>[] {
  return [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description: 'Phase, or Terminating while it is being deleted.',
      cell: ({ metadata, status }) => (metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating'),
    },
    {
      name: 'Volume',
      type: 'string',
      description: 'Volume it is bound to.',
      cell: ({ spec }) => spec.volumeName ?? '',
    },
    {
      name: 'Capacity',
      type: 'string',
      description: 'Size of that volume.',
      cell: ({ spec, status }) => (spec.volumeName ? (status.capacity?.storage ?? '0') : ''),
    },
    {
      name: 'Access Modes',
      type: 'string',
      description: 'How that volume may be mounted.',
      cell: ({ spec, status }) => (spec.volumeName ? accessModesText(status.accessModes) : ''),
    },
    ...volumeClassColumns(names),
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

/** Without the gate, a source in another namespace is dropped. */
function dropForeignSource(spec: PersistentVolumeClaim['spec']): void {
  if (spec.dataSourceRef?.namespace && !isFieldGateOpen('CrossNamespaceVolumeDataSource')) delete spec.dataSourceRef;
}

/**
 * Fills in each of the two fields for the source of a claim's data from the other. The older field accepts only claims
 * and snapshots; if only the older field is set, another source is silently dropped.
 */
function normalizeDataSource(spec: PersistentVolumeClaim['spec']): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) {
    const group = dataSource.apiGroup ?? '';
    const isClaim = group === '' && dataSource.kind === 'PersistentVolumeClaim';
    const isSnapshot = group.startsWith('snapshot.storage.') && dataSource.kind === 'VolumeSnapshot';
    if (isClaim || isSnapshot) spec.dataSourceRef = { ...dataSource };
    else delete spec.dataSource;
  } else if (dataSource === undefined && dataSourceRef !== undefined && !dataSourceRef.namespace) {
    const { apiGroup, kind, name } = dataSourceRef;
    spec.dataSource = { apiGroup, kind, name };
  }
}
