import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../../../base/machinery/names.js';
import { ownValue } from '../../../../../base/machinery/own-value.js';
import { compareQuantities, quantityMilliValue, quantitySign } from '../../../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../../../base/machinery/vendor.js';
import { isHugePages, isWholePages } from '../huge-pages.js';
import type { ResourceList } from '../resources.types.js';
import { checkText, type PodValidationOptions } from './common.validation.js';

const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const standardResources: ReadonlySet<string> = new Set([
  ...containerResources,
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'requests.storage',
  'pods',
  'services',
  'services.nodeports',
  'services.loadbalancers',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
]);

/** Resources counted in whole units, besides those of vendors. */
const integerResources: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

/** Whether the server itself knows a resource: its name has no domain, or the vendor's own domain. */
export function isNativeResource(name: string, names: VendorNames): boolean {
  return !name.includes('/') || name.includes(`${names.labelPrefix}/`);
}

/** Whether a resource has another domain: such resources are counted in whole units and never overcommitted. */
function isExtendedResource(name: string, names: VendorNames): boolean {
  if (isNativeResource(name, names) || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

/** Validates an amount, which must not be negative, and must be whole where only whole units exist. */
export function checkQuantity(
  name: string,
  value: string,
  path: FieldPath,
  names: VendorNames,
  errors: FieldError[],
): void {
  if (quantitySign(value) < 0) errors.push(invalid(path, value, 'must be greater than or equal to 0'));
  if (!integerResources.has(name) && !isExtendedResource(name, names)) return;
  if (quantityMilliValue(value) % 1000 !== 0) errors.push(invalid(path, value, 'must be an integer'));
}

/** Validates the name of any resource, including those that containers can't request. */
export function checkResourceName(name: string, path: FieldPath, errors: FieldError[]): void {
  const before = errors.length;
  checkText(name, isQualifiedName, path, errors);
  if (errors.length > before || name.includes('/')) return;
  if (!standardResources.has(name) && !isHugePages(name) && !name.startsWith('requests.hugepages-')) {
    errors.push(invalid(path, name, 'must be a standard resource type or fully qualified'));
  }
}

/** Validates the name of a resource that a container can request, where it has no domain. */
export function checkPlainContainerResource(name: string, path: FieldPath, errors: FieldError[]): void {
  checkResourceName(name, path, errors);
  if (!name.includes('/') && !containerResources.has(name) && !isHugePages(name)) {
    errors.push(invalid(path, name, 'must be a standard resource for containers'));
  }
}

/** Validates the name of a resource that a container can request. */
export function checkContainerResourceName(
  name: string,
  path: FieldPath,
  names: VendorNames,
  errors: FieldError[],
): void {
  checkPlainContainerResource(name, path, errors);
  if (!name.includes('/')) return;
  if (!isNativeResource(name, names) && !isExtendedResource(name, names)) {
    errors.push(invalid(path, name, "doesn't follow extended resource name standard"));
  }
}

/** Limits and requests of a container, or of a pod's overhead (limits only). */
export interface ResourceAmounts {
  readonly limits?: ResourceList;
  readonly requests?: ResourceList;
}

/**
 * Validates the resources of a container.
 *
 * @param checkName checks the names of resources
 */
export function validateResourceRequirements(
  resources: ResourceAmounts,
  path: FieldPath,
  { names, allowsPartPages = false }: PodValidationOptions,
  errors: FieldError[],
  checkName: typeof checkContainerResourceName = checkContainerResourceName,
): void {
  const { limits, requests } = resources;
  if (limits === undefined && requests === undefined) return;
  const limitPath = path.child('limits');
  const requestPath = path.child('requests');
  for (const name of Object.keys(limits ?? {})) {
    const at = limitPath.key(name);
    checkName(name, at, names, errors);
    checkQuantity(name, limits?.[name] as string, at, names, errors);
    if (!allowsPartPages) checkPages(name, limits?.[name] as string, at, errors);
  }
  for (const name of Object.keys(requests ?? {})) {
    const request = requests?.[name] as string;
    const at = requestPath.key(name);
    checkName(name, at, names, errors);
    checkQuantity(name, request, at, names, errors);
    const mayOvercommit = isNativeResource(name, names) && !isHugePages(name);
    const limit = ownValue(limits, name);
    if (limit !== undefined) checkRequest(name, request, limit, mayOvercommit, requestPath, errors);
    else if (!mayOvercommit) {
      errors.push(required(limitPath, 'Limit must be set for non overcommitable resources'));
    }
    if (!allowsPartPages) checkPages(name, request, at, errors);
  }
  const all = [...Object.keys(limits ?? {}), ...Object.keys(requests ?? {})];
  if (all.some(isHugePages) && !all.some((name) => name === 'cpu' || name === 'memory')) {
    errors.push(forbidden(path, 'HugePages require cpu or memory'));
  }
}

function checkRequest(
  name: string,
  request: string,
  limit: string,
  mayOvercommit: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const order = compareQuantities(request, limit);
  if (!mayOvercommit && order !== 0) errors.push(invalid(path, request, `must be equal to ${name} limit of ${limit}`));
  else if (order > 0) errors.push(invalid(path, request, `must be less than or equal to ${name} limit of ${limit}`));
}

function checkPages(name: string, amount: string, path: FieldPath, errors: FieldError[]): void {
  if (!isHugePages(name) || isWholePages(name, amount)) return;
  errors.push(invalid(path, amount, `${amount} is not positive integer multiple of ${name}`));
}
