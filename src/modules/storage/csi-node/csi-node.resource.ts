import { isDeepStrictEqual } from 'node:util';
import { duplicate, type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type CSINode, type CSINodeDriver, csiNode } from '../../../objects/apis/storage/v1/csi-node.types.js';
import { validateCsiDriverName } from '../../../objects/apis/storage/v1/validation/csi-driver-name.validation.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';

const driversPath = FieldPath.of('spec', 'drivers');
const maxNodeIdLength = 256;

const columns: readonly TableColumn<CSINode>[] = [
  nameColumn,
  {
    name: 'Drivers',
    type: 'integer',
    description: 'Number of drivers on the node.',
    cell: (object) => (object.spec.drivers ?? []).length,
  },
  ageColumn,
];

/** `csinodes`: storage drivers installed on a node. */
export function csiNodeResource(names: VendorNames): ResourceDefinition {
  return defineResource<CSINode>({
    group: groupName('storage', names),
    resource: 'csinodes',
    singular: 'csinode',
    kind: 'CSINode',
    namespaced: false,
    versions: [{ version: 'v1', type: csiNode }],
    strategyOptions: { allowUnconditionalUpdate: false, returnsDeletedObject: true },
    strategy: {
      validate: (_context, object) => validateCsiNode(object),
      validateUpdate: (_context, object, old) => validateCsiNodeUpdate(object, old),
    },
    columns,
    subresources: [statusSubresource<CSINode>({ keptMetadata: clientMetadata })],
  });
}

/** Validates a new CSINode. */
function validateCsiNode(object: CSINode): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, driver] of (object.spec.drivers ?? []).entries()) {
    validateDriver(driver, seen, driversPath.index(i), errors);
  }
  return errors;
}

/** Validates a changed CSINode: only the capacity of a remaining driver may change. */
function validateCsiNodeUpdate(object: CSINode, old: CSINode): FieldError[] {
  const errors = validateCsiNode(object);
  for (const driver of object.spec.drivers ?? []) {
    const before = (old.spec.drivers ?? []).find((candidate) => candidate.name === driver.name);
    if (before === undefined) continue;
    const { allocatable: _capacity, ...fixed } = driver;
    const { allocatable: _oldCapacity, ...oldFixed } = before;
    // The capacity may change, so the message does not show it.
    if (!isDeepStrictEqual(fixed, oldFixed)) errors.push(invalid(driversPath, fixed, 'field is immutable'));
  }
  return errors;
}

function validateDriver(driver: CSINodeDriver, seen: Set<string>, path: FieldPath, errors: FieldError[]): void {
  const { name, nodeID, topologyKeys, allocatable } = driver;
  errors.push(...validateCsiDriverName(name, path.child('name')));
  if (nodeID === '') errors.push(required(path.child('nodeID')));
  if (nodeID.length > maxNodeIdLength) {
    errors.push(invalid(path.child('nodeID'), nodeID, `must be ${maxNodeIdLength} characters or less`));
  }
  const count = allocatable?.count;
  if (count !== undefined && count < 0) {
    errors.push(invalid(path.child('allocatable').child('count'), count, 'must be greater than or equal to 0'));
  }
  if (seen.has(name)) errors.push(duplicate(path.child('name'), name));
  seen.add(name);
  validateTopologyKeys(topologyKeys ?? [], path, errors);
}

function validateTopologyKeys(keys: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>();
  for (const key of keys) {
    if (key === '') errors.push(required(path));
    if (seen.has(key)) errors.push(duplicate(path, key));
    seen.add(key);
    for (const m of isQualifiedName(key)) errors.push(invalid(path, key, m));
  }
}
