import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1035Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import {
  type StorageVersionMigration,
  storageVersionMigration,
} from '../../../objects/apis/storagemigration/v1/storage-version-migration.types.js';
import { storageVersionMigration as storageVersionMigrationV1beta1 } from '../../../objects/apis/storagemigration/v1beta1/storage-version-migration.types.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');

const columns: readonly TableColumn<StorageVersionMigration>[] = [
  { name: 'Name', type: 'string', description: 'Name of the migration.', cell: ({ metadata }) => metadata?.name ?? '' },
  {
    name: 'Resource',
    type: 'string',
    description: 'Resource whose objects are written again.',
    cell: ({ spec: { resource } }) => [resource.resource, resource.group].filter((part) => part).join('.'),
  },
  { name: 'Status', type: 'string', description: 'How far the migration has got.', cell: stateOf },
];

/** `storageversionmigrations`: requests to write all objects of a resource again. */
export function storageVersionMigrationResource(names: VendorNames): ResourceDefinition {
  return defineResource<StorageVersionMigration>({
    group: groupName('storagemigration', names),
    resource: 'storageversionmigrations',
    singular: 'storageversionmigration',
    kind: 'StorageVersionMigration',
    namespaced: false,
    versions: [
      { version: 'v1beta1', type: storageVersionMigrationV1beta1, isOffByDefault: true },
      { version: 'v1', type: storageVersionMigration },
    ],
    strategyOptions: { allowUnconditionalUpdate: false },
    strategy: {
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      validate: (_context, object) => validateMigration(object),
      validateUpdate: (_context, object, old) =>
        deepEqual(object.spec, old.spec)
          ? validateMigration(object)
          : [...validateMigration(object), invalid(specPath, { Resource: object.spec.resource }, 'field is immutable')],
    },
    columns,
    subresources: [
      statusSubresource<StorageVersionMigration>({ keptMetadata: clientMetadata, validate: validateStatus }),
    ],
  });
}

function validateMigration({ spec: { resource } }: StorageVersionMigration): FieldError[] {
  const path = specPath.child('resource');
  const errors: FieldError[] = [];
  if (resource.resource === '') errors.push(required(path.child('resource'), 'resource is required to be set'));
  else {
    for (const m of isDns1035Label(resource.resource))
      errors.push(invalid(path.child('resource'), resource.resource, m));
  }
  if (resource.group === '') return errors;
  for (const m of isDns1123Subdomain(resource.group)) errors.push(invalid(path.child('group'), resource.group, m));
  return errors;
}

function validateStatus({ status }: StorageVersionMigration, { status: old }: StorageVersionMigration): FieldError[] {
  const path = statusPath.child('conditions');
  const { conditions = [], resourceVersion = '' } = status;
  const errors = validateConditions(conditions, path);
  if (!/^(0|[1-9]\d*)?$/.test(resourceVersion)) {
    const detail = `resource version is not well formed: ${resourceVersion}`;
    errors.unshift(invalid(statusPath.child('resourceVersion'), resourceVersion, detail));
  }
  const before = old.resourceVersion ?? '';
  if (before !== '' && before !== resourceVersion) {
    errors.push(invalid(statusPath.child('resourceVersion'), resourceVersion, 'field is immutable'));
  }
  const [wasDone, wasFailed] = [isTrue(old.conditions, 'Succeeded'), isTrue(old.conditions, 'Failed')];
  const [isDone, isFailed] = [isTrue(conditions, 'Succeeded'), isTrue(conditions, 'Failed')];
  if (isDone && isFailed)
    errors.push(invalid(path, conditions, 'Both success and failed conditions cannot be true at the same time'));
  if (wasDone && !isDone) {
    errors.push(invalid(path, conditions, 'Success condition cannot be set to false once it is true'));
  }
  if (wasFailed && !isFailed) {
    errors.push(invalid(path, conditions, 'Failed condition cannot be set to false once it is true'));
  }
  return errors;
}

type Conditions = StorageVersionMigration['status']['conditions'];

function isTrue(conditions: Conditions, type: string): boolean {
  return (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

function stateOf({ status: { conditions = [] } }: StorageVersionMigration): string {
  const known = ['Running', 'Failed', 'Succeeded'];
  return conditions.findLast(({ type, status }) => status === 'True' && known.includes(type))?.type ?? 'Unknown';
}
