import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, forbidden, invalid, required } from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type VolumeAttributesClass,
  volumeAttributesClass,
} from '../../../objects/apis/storage/v1/volume-attributes-class.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateParameters } from '../storage-class/storage-class.validation.js';

const columns: readonly TableColumn<VolumeAttributesClass>[] = [
  nameColumn,
  {
    name: 'DriverName',
    type: 'string',
    description: 'Driver that understands the parameters.',
    cell: (object) => object.driverName,
  },
  ageColumn,
];

/** `volumeattributesclasses`: changeable attributes of volumes. */
export function volumeAttributesClassResource(names: VendorNames): ResourceDefinition {
  return defineResource<VolumeAttributesClass>({
    group: groupName('storage', names),
    resource: 'volumeattributesclasses',
    singular: 'volumeattributesclass',
    kind: 'VolumeAttributesClass',
    namespaced: false,
    shortNames: ['vac'],
    versions: [{ version: 'v1', type: volumeAttributesClass }],
    strategyOptions: { returnsDeletedObject: true },
    strategy: {
      validate: (_context, object) => validateVolumeAttributesClass(object),
      validateUpdate: (_context, object, old) => validateVolumeAttributesClassUpdate(object, old),
    },
    columns,
  });
}

/** Validates a new VolumeAttributesClass. */
function validateVolumeAttributesClass(object: VolumeAttributesClass): FieldError[] {
  const { driverName } = object;
  const path = FieldPath.of('driverName');
  const errors =
    driverName === ''
      ? [required(path)]
      : isQualifiedName(driverName.toLowerCase()).map((m) => invalid(path, driverName.toLowerCase(), m));
  errors.push(...validateParameters(object.parameters, FieldPath.of('parameters'), false));
  return errors;
}

/** Validates a changed VolumeAttributesClass: only metadata may change. */
function validateVolumeAttributesClassUpdate(object: VolumeAttributesClass, old: VolumeAttributesClass): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['driverName', 'parameters'] as const) {
    if (!isDeepStrictEqual(object[field], old[field])) {
      errors.push(forbidden(FieldPath.of(field), `updates to ${field} are forbidden.`));
    }
  }
  return [...errors, ...validateVolumeAttributesClass(object)];
}
