import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { validateNodeSelector } from '../../../objects/apis/core/v1/validation/scheduling.validation.js';
import type { Counter, Device, DeviceAttribute } from '../../../objects/apis/resource/v1/device.types.js';
import { validateBindingConditions } from '../validation/binding-conditions.validation.js';
import { declared } from '../validation/declared.js';
import {
  maxQualifiedNameLength,
  validateDeviceLabel,
  validateQualifiedName,
} from '../validation/device-names.validation.js';
import { validateDeviceTaint } from '../validation/device-taint.validation.js';
import { validateDeclaredSet, validateItems } from '../validation/lists.validation.js';
import { validateRequestPolicy } from './request-policy.validation.js';

const maxProperties = 32;
const maxValues = 48;
const maxTaints = 16;
const maxConsumptions = 2;
const maxCounters = 32;
const maxValueLength = 64;
const valueFields = ['int', 'bool', 'string', 'version', 'ints', 'bools', 'strings', 'versions'] as const;
const semanticVersion =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/;
const reachRule =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';

/**
 * Validates a device of a slice.
 *
 * @param hasOwnReach whether each device of the slice states the nodes that can reach it
 * @param old the device as it was: its capacities and taints are not checked again
 */
export function validateDevice(device: Device, path: FieldPath, hasOwnReach: boolean, old?: Device): FieldError[] {
  const { attributes = {}, capacity = {}, taints } = device;
  const errors = validateDeviceLabel(device.name, path.child('name'));
  const attributeCount = Object.keys(attributes).length;
  const count = attributeCount + Object.keys(capacity).length;
  if (count > maxProperties) {
    const detail = `the total number of attributes and capacities must not exceed ${maxProperties}`;
    errors.push(invalid(path, count, detail));
  }
  if (attributeCount > maxValues) {
    errors.push(invalid(path, attributeCount, `the total number of attribute values must not exceed ${maxValues}`));
  }
  for (const [name, attribute] of Object.entries(attributes)) {
    const at = path.child('attributes');
    errors.push(...validateQualifiedName(name, at), ...validateAttribute(attribute, at.key(shortened(name))));
  }
  if (old === undefined || !deepEqual(device.capacity, old.capacity)) errors.push(...validateCapacity(device, path));
  if (old === undefined || !deepEqual(taints, old.taints)) {
    errors.push(
      ...validateItems(taints, maxTaints, path.child('taints'), (taint, at) => validateDeviceTaint(taint, at)),
    );
  }
  errors.push(
    ...validateDeclaredSet(
      device.consumesCounters,
      maxConsumptions,
      path.child('consumesCounters'),
      ({ counterSet, counters }, at) => validateCounters('counterSet', counterSet, counters, at),
      ({ counterSet }) => counterSet,
    ),
    ...validateReach(device, path, hasOwnReach),
    ...validateBindingConditions(device, path),
  );
  return errors;
}

/** Validates counters, and the name of their set, which is in the field `field`. */
export function validateCounters(
  field: 'name' | 'counterSet',
  name: string,
  counters: Readonly<Record<string, Counter>> | null | undefined,
  path: FieldPath,
): FieldError[] {
  const at = path.child('counters');
  const names = Object.keys(counters ?? {});
  if (names.length > maxCounters) return [tooMany(at, names.length, maxCounters)];
  const errors = name === '' ? [required(path.child(field))] : validateDeviceLabel(name, path.child(field));
  if (names.length === 0) errors.push(required(at));
  for (const counter of names) errors.push(...validateDeviceLabel(counter, at));
  return declared(errors);
}

function validateAttribute(attribute: DeviceAttribute, path: FieldPath): FieldError[] {
  const { string, version } = attribute;
  const errors: FieldError[] = [];
  if ((string ?? '').length > maxValueLength) errors.push(tooLong(path.child('string'), maxValueLength));
  if (version !== undefined) {
    const at = path.child('version');
    if (!semanticVersion.test(version)) {
      errors.push(invalid(at, version, 'must be a string compatible with semver.org spec 2.0.0'));
    }
    if (version.length > maxValueLength) errors.push(tooLong(at, maxValueLength));
  }
  const set = valueFields.filter((field) => attribute[field] !== undefined);
  if (set.length === 1) return errors;
  const all = valueFields.map((field) => `\`${field}\``).join(', ');
  const [shown, count] = set.length === 0 ? ['', 'one'] : [`{${set.join(', ')}}`, 'exactly one'];
  return [...errors, ...declared([invalid(path, shown, `must specify ${count} of: ${all}`)])];
}

function validateCapacity({ capacity = {}, allowMultipleAllocations }: Device, path: FieldPath): FieldError[] {
  const at = path.child('capacity');
  const errors: FieldError[] = [];
  for (const [name, { value, requestPolicy }] of Object.entries(capacity)) {
    errors.push(...validateQualifiedName(name, at));
    if (requestPolicy === undefined) continue;
    const policyPath = at.key(shortened(name)).child('requestPolicy');
    if (allowMultipleAllocations === true) errors.push(...validateRequestPolicy(value, requestPolicy, policyPath));
    else errors.push(forbidden(policyPath, 'allowMultipleAllocations must be true'));
  }
  return errors;
}

function validateReach(device: Device, path: FieldPath, isWanted: boolean): FieldError[] {
  const { nodeName, nodeSelector, allNodes } = device;
  if (!isWanted) {
    const isSet = nodeName !== undefined || nodeSelector !== undefined || allNodes !== undefined;
    const detail =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    return isSet ? [invalid(path, null, detail)] : [];
  }
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName === '') errors.push(invalid(path.child('nodeName'), '', 'must not be empty'));
  else if (nodeName !== undefined) {
    set.push('`nodeName`');
    for (const message of isDns1123Subdomain(nodeName)) errors.push(invalid(path.child('nodeName'), nodeName, message));
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`');
    validateNodeSelector(nodeSelector, path.child('nodeSelector'), errors);
  }
  if (allNodes === true) set.push('`allNodes`');
  else if (allNodes === false)
    errors.push(invalid(path.child('allNodes'), false, 'must be either unset or set to true'));
  if (set.length === 0) errors.push(required(path, reachRule));
  else if (set.length > 1) errors.push(invalid(path, `{${set.join(', ')}}`, reachRule));
  return errors;
}

/** A map key for messages: a long key loses its middle. */
function shortened(name: string): string {
  if (name.length <= maxQualifiedNameLength) return name;
  const rest = maxQualifiedNameLength - 3;
  return `${name.slice(0, Math.floor((rest + 1) / 2))}...${name.slice(name.length - Math.floor(rest / 2))}`;
}
