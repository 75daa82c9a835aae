import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type { NodeSelector } from '../../../objects/apis/core/v1/node-selector.types.js';
import { validateNodeSelector } from '../../../objects/apis/core/v1/validation/scheduling.validation.js';
import type { CounterSet } from '../../../objects/apis/resource/v1/device.types.js';
import type { ResourceSlice, ResourceSliceSpec } from '../../../objects/apis/resource/v1/resource-slice.types.js';
import { declaredLast } from '../validation/declared.js';
import { validateDriverName, validatePoolName } from '../validation/device-names.validation.js';
import { validateDeclaredSet, validateUniqueItems } from '../validation/lists.validation.js';
import { validateCounters, validateDevice } from './device.validation.js';

const specPath = FieldPath.of('spec');
const maxDevices = 128;
/** The limit for slices with taints or counters, which take more work to check. */
const maxAdvancedDevices = 64;
const maxCounterSets = 8;
const choice = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';

/** Validates a slice, new or changed. */
export function validateResourceSlice({ spec }: ResourceSlice, old?: ResourceSlice): FieldError[] {
  const errors = [
    ...validateDriverName(spec.driver, specPath.child('driver')),
    ...validatePool(spec.pool, specPath.child('pool')),
    ...(old === undefined ? [] : validateUnchanged(spec, old.spec)),
    ...validateReach(spec),
  ];
  if (spec.sharedCounters !== undefined && spec.devices !== undefined) {
    errors.push(invalid(specPath, '', 'only one of `sharedCounters` or `devices` is allowed'));
  }
  const isAdvanced = (spec.devices ?? []).some(
    ({ taints, consumesCounters }) => (taints ?? []).length > 0 || (consumesCounters ?? []).length > 0,
  );
  const known = new Map((old?.spec.devices ?? []).map((device) => [device.name, device]));
  errors.push(
    ...validateUniqueItems(
      spec.devices,
      isAdvanced ? maxAdvancedDevices : maxDevices,
      specPath.child('devices'),
      (device, path) => validateDevice(device, path, spec.perDeviceNodeSelection === true, known.get(device.name)),
      ({ name }) => name,
    ),
    ...validateDeclaredSet(
      spec.sharedCounters,
      maxCounterSets,
      specPath.child('sharedCounters'),
      validateCounterSet,
      ({ name }) => name,
    ),
  );
  return declaredLast(errors);
}

function validateCounterSet({ name, counters }: CounterSet, path: FieldPath): FieldError[] {
  return validateCounters('name', name, counters, path);
}

function validatePool(pool: ResourceSliceSpec['pool'], path: FieldPath): FieldError[] {
  const errors = validatePoolName(pool.name, path.child('name'));
  const { resourceSliceCount: count, generation } = pool;
  if (count <= 0) errors.push(invalid(path.child('resourceSliceCount'), count, 'must be greater than zero'));
  if (generation < 0) {
    errors.push(invalid(path.child('generation'), generation, 'must be greater than or equal to zero'));
  }
  return errors;
}

function validateUnchanged(spec: ResourceSliceSpec, old: ResourceSliceSpec): FieldError[] {
  const fields = [
    [specPath.child('pool').child('name'), spec.pool.name, old.pool.name],
    [specPath.child('driver'), spec.driver, old.driver],
    [specPath.child('nodeName'), spec.nodeName, old.nodeName],
  ] as const;
  return fields
    .filter(([, now, before]) => now !== before)
    .map(([path, now]) => invalid(path, now ?? null, 'field is immutable'));
}

/** Checks that the nodes that can reach the devices are given in exactly one way. */
function validateReach(spec: ResourceSliceSpec): FieldError[] {
  const { nodeName, nodeSelector } = spec;
  const errors: FieldError[] = [];
  const set: string[] = [];
  if (nodeName === '') {
    errors.push(invalid(specPath.child('nodeName'), '', 'must be either unset or set to a non-empty string'));
  } else if (nodeName !== undefined) {
    set.push('`nodeName`');
    for (const message of isDns1123Subdomain(nodeName))
      errors.push(invalid(specPath.child('nodeName'), nodeName, message));
  }
  if (nodeSelector !== undefined) {
    set.push('`nodeSelector`');
    errors.push(...validateSelector(nodeSelector, specPath.child('nodeSelector')));
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[field] === true) set.push(`\`${field}\``);
    else if (spec[field] === false) {
      errors.push(invalid(specPath.child(field), false, 'must be either unset or set to true'));
    }
  }
  if (set.length === 0) errors.push(required(specPath, choice));
  else if (set.length > 1) {
    errors.push(invalid(specPath, `{${set.join(', ')}}`, `${choice}, but multiple fields are set`));
  }
  return errors;
}

function validateSelector(selector: NodeSelector, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  validateNodeSelector(selector, path, errors);
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length !== 1) {
    errors.push(invalid(path.child('nodeSelectorTerms'), terms, 'must have exactly one node selector term'));
  }
  return errors;
}
