import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { quantitySign } from '../../../base/machinery/values/quantity.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import {
  type CSIStorageCapacity,
  csiStorageCapacity,
} from '../../../objects/apis/storage/v1/csi-storage-capacity.types.js';
import { defaultColumns } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';

/** `csistoragecapacities`: the storage left in a part of the cluster. */
export function csiStorageCapacityResource(names: VendorNames): ResourceDefinition {
  return defineResource<CSIStorageCapacity>({
    group: groupName('storage', names),
    resource: 'csistoragecapacities',
    singular: 'csistoragecapacity',
    kind: 'CSIStorageCapacity',
    namespaced: true,
    versions: [{ version: 'v1', type: csiStorageCapacity }],
    strategyOptions: { allowUnconditionalUpdate: false },
    strategy: {
      validate: (_context, object) => validateCsiStorageCapacity(object),
      validateUpdate: (_context, object, old) => validateCsiStorageCapacityUpdate(object, old),
    },
    columns: defaultColumns,
  });
}

/** Validates a new CSIStorageCapacity. */
function validateCsiStorageCapacity(object: CSIStorageCapacity): FieldError[] {
  const { storageClassName, nodeTopology, capacity } = object;
  const errors: FieldError[] = [];
  for (const m of isDns1123Subdomain(storageClassName)) {
    errors.push(invalid(FieldPath.of('storageClassName'), storageClassName, m));
  }
  errors.push(...validateLabelSelector(nodeTopology, FieldPath.of('nodeTopology')));
  validateSize(capacity, FieldPath.of('capacity'), errors);
  return errors;
}

/** Validates a changed CSIStorageCapacity: only the numbers may change. */
function validateCsiStorageCapacityUpdate(object: CSIStorageCapacity, old: CSIStorageCapacity): FieldError[] {
  const errors = validateCsiStorageCapacity(object);
  for (const field of ['nodeTopology', 'storageClassName'] as const) {
    if (!isDeepStrictEqual(object[field], old[field])) {
      errors.push(invalid(FieldPath.of(field), object[field], 'field is immutable'));
    }
  }
  return errors;
}

function validateSize(size: string | undefined, path: FieldPath, errors: FieldError[]): void {
  if (size !== undefined && quantitySign(size) < 0) {
    errors.push(invalid(path, size, 'must be greater than or equal to 0'));
  }
}
