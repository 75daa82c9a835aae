import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain, isPathSegmentName } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { ipProblem } from '../../../objects/apis/core/v1/validation/ip-address.validation.js';
import { type IPAddress, ipAddress } from '../../../objects/apis/networking/v1/service-cidr.types.js';
import { canonicalIp } from '../../../objects/apis/networking/v1/validation/ip-network.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import type { ResourceStores } from '../../../objects/registry/store/resource-stores.js';
import { restoreAddress } from './restore-address.js';

const parentPath = FieldPath.of('spec', 'parentRef');

const columns: readonly TableColumn<IPAddress>[] = [
  nameColumn,
  { name: 'ParentRef', type: 'string', description: 'Object that uses the address.', cell: parentCell },
  // Programs know rows with a cell more than there are columns.
  { ...ageColumn, isUndeclared: true },
];

/** `ipaddresses`: addresses in use, named after the address. */
export function ipAddressResource(names: VendorNames, stores: ResourceStores): ResourceDefinition {
  const group = groupName('networking', names);
  return defineResource<IPAddress>({
    group,
    resource: 'ipaddresses',
    singular: 'ipaddress',
    kind: 'IPAddress',
    namespaced: false,
    shortNames: ['ip'],
    versions: [{ version: 'v1', type: ipAddress }],
    strategy: {
      validateName: ipAddressNameErrors,
      validate: (_context, object) => validateIpAddress(object),
      validateUpdate: (_context, object, old) => validateIpAddressUpdate(object, old),
      afterDelete: (object) => restoreAddress(stores, `ipaddresses.${group}`, object),
    },
    columns,
  });
}

/** Validates the name of an IPAddress: it must be the address in canonical form. */
function ipAddressNameErrors(name: string): string[] {
  const problem = ipProblem(name);
  if (problem !== undefined) return [problem];
  const canonical = canonicalIp(name);
  if (canonical?.startsWith('::ffff:') && canonical.includes('.')) return ['must not be an IPv4-mapped IPv6 address'];
  return canonical === name ? [] : [`must be in canonical form ("${canonical}")`];
}

/** Validates a new IPAddress. */
function validateIpAddress(object: IPAddress): FieldError[] {
  const parent = object.spec.parentRef;
  if (parent === undefined) return [required(parentPath)];
  const errors: FieldError[] = [];
  if (parent.group !== undefined) {
    for (const m of isDns1123Subdomain(parent.group)) errors.push(invalid(parentPath.child('group'), parent.group, m));
  }
  for (const field of ['resource', 'name', 'namespace'] as const) {
    const value = parent[field];
    if (value === undefined) {
      if (field !== 'namespace') errors.push(required(parentPath.child(field)));
    } else {
      for (const m of isPathSegmentName(value)) errors.push(invalid(parentPath.child(field), value, m));
    }
  }
  return errors;
}

/** Validates a changed IPAddress: it keeps its parent. */
function validateIpAddressUpdate(object: IPAddress, old: IPAddress): FieldError[] {
  const errors = validateIpAddress(object);
  if (isDeepStrictEqual(object.spec.parentRef, old.spec.parentRef)) return errors;
  return [...errors, invalid(parentPath, null, 'field is immutable')];
}

function parentCell(object: IPAddress): string {
  const { group, resource, namespace, name } = object.spec.parentRef ?? {};
  const kind = group === undefined ? resource : `${resource}.${group}`;
  return [kind, namespace, name].filter((part) => part !== undefined && part !== '').join('/');
}
