import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { deprecatedNodeLabel } from '../../../objects/apis/core/v1/deprecated-labels.js';
import { type StorageClass, storageClass } from '../../../objects/apis/storage/v1/storage-class.types.js';
import { ageColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import {
  applyStorageClassDefaults,
  validateStorageClass,
  validateStorageClassUpdate,
} from './storage-class.validation.js';

/** `storageclasses`: how volumes are provisioned. */
export function storageClassResource(names: VendorNames): ResourceDefinition {
  return defineResource<StorageClass>({
    group: groupName('storage', names),
    resource: 'storageclasses',
    singular: 'storageclass',
    kind: 'StorageClass',
    namespaced: false,
    shortNames: ['sc'],
    versions: [{ version: 'v1', type: storageClass }],
    strategyOptions: { returnsDeletedObject: true },
    strategy: {
      applyDefaults: applyStorageClassDefaults,
      validate: (_context, object) => validateStorageClass(object),
      validateUpdate: (_context, object, old) => validateStorageClassUpdate(object, old),
      warnings: (_context, { allowedTopologies }) => {
        const terms = (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, i) =>
          (matchLabelExpressions ?? []).map(({ key }, k) => ({ key, place: `[${i}].matchLabelExpressions[${k}].key` })),
        );
        return terms.flatMap(({ key, place }) => {
          const advice = deprecatedNodeLabel(key, names);
          return advice === undefined ? [] : [`allowedTopologies${place}: ${advice}`];
        });
      },
    },
    columns: storageClassColumns(names),
  });
}

function storageClassColumns(names: VendorNames): readonly TableColumn<StorageClass>[] {
  const defaultAnnotations = [
    `storageclass.${names.labelPrefix}/is-default-class`,
    `storageclass.beta.${names.labelPrefix}/is-default-class`,
  ];
  const isDefault = (object: StorageClass) =>
    defaultAnnotations.some((key) => object.metadata.annotations?.[key] === 'true');
  return [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the object, marked when claims that name no class get this one.',
      cell: (object) => `${object.metadata.name}${isDefault(object) ? ' (default)' : ''}`,
    },
    {
      name: 'Provisioner',
      type: 'string',
      description: 'Who makes the volumes.',
      cell: (object) => object.provisioner,
    },
    {
      name: 'ReclaimPolicy',
      type: 'string',
      description: 'What becomes of a volume when its claim is deleted.',
      cell: (object) => object.reclaimPolicy ?? 'Delete',
    },
    {
      name: 'VolumeBindingMode',
      type: 'string',
      description: 'When claims are bound.',
      cell: (object) => object.volumeBindingMode ?? '<unset>',
    },
    {
      name: 'AllowVolumeExpansion',
      type: 'string',
      description: 'Whether volumes may grow.',
      cell: (object) => object.allowVolumeExpansion ?? false,
    },
    ageColumn,
  ];
}
