import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { validateLabelName } from '../../../base/machinery/label-rules.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import type { StorageClass } from '../../../objects/apis/storage/v1/storage-class.types.js';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
const topologiesPath = FieldPath.of('allowedTopologies');

/**
 * Fills in the defaults. Recycling makes no sense, because volumes are newly provisioned. Neither the binding mode nor
 * the reclaim policy can change.
 */
export function applyStorageClassDefaults(object: StorageClass): void {
  object.reclaimPolicy ??= 'Delete';
  object.volumeBindingMode ??= 'Immediate';
}

/** Validates a new StorageClass. */
export function validateStorageClass(object: StorageClass): FieldError[] {
  const errors: FieldError[] = [];
  const { provisioner, parameters, reclaimPolicy, volumeBindingMode } = object;
  validateProvisioner(provisioner, FieldPath.of('provisioner'), errors);
  errors.push(...validateParameters(parameters, FieldPath.of('parameters'), true));
  if (reclaimPolicy !== undefined && reclaimPolicy !== '' && !reclaimPolicies.includes(reclaimPolicy)) {
    errors.push(notSupported(FieldPath.of('reclaimPolicy'), reclaimPolicy, reclaimPolicies));
  }
  if (volumeBindingMode === undefined) errors.push(required(FieldPath.of('volumeBindingMode')));
  else if (!bindingModes.includes(volumeBindingMode)) {
    errors.push(notSupported(FieldPath.of('volumeBindingMode'), volumeBindingMode, bindingModes));
  }
  validateTopologies(object.allowedTopologies ?? [], errors);
  if (provisioner === '') errors.push(required(FieldPath.of('provisioner')));
  return errors;
}

/** Validates a changed StorageClass: how volumes are provisioned must not change. */
export function validateStorageClassUpdate(object: StorageClass, old: StorageClass): FieldError[] {
  const errors = validateStorageClass(object);
  for (const field of ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'] as const) {
    if (isDeepStrictEqual(object[field] ?? {}, old[field] ?? {})) continue;
    errors.push(invalid(FieldPath.of(field), null, 'field is immutable'));
  }
  return errors;
}

function validateProvisioner(provisioner: string, path: FieldPath, errors: FieldError[]): void {
  if (provisioner !== '')
    for (const m of isQualifiedName(provisioner.toLowerCase()))
      errors.push(invalid(path, provisioner.toLowerCase(), m));
}

const maxParameterCount = 512;
const maxParametersBytes = 256 * 1024;

/** Validates the free-form parameters of a class; `allowEmpty` if it may have none. */
export function validateParameters(
  parameters: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  allowEmpty: boolean,
): FieldError[] {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > maxParameterCount) return [tooLong(path, maxParameterCount)];
  if (entries.length === 0 && !allowEmpty) return [required(path, 'must contain at least one key/value pair')];
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of entries) {
    if (key === '') errors.push(invalid(path, key, 'field can not be empty.'));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > maxParametersBytes) errors.push(tooLong(path, maxParametersBytes));
  return errors;
}

type Topologies = NonNullable<StorageClass['allowedTopologies']>;

function validateTopologies(topologies: Topologies, errors: FieldError[]): void {
  const seenTerms: ReadonlyMap<string, ReadonlySet<string>>[] = [];
  for (const [i, term] of topologies.entries()) {
    const path = topologiesPath.index(i).child('matchLabelExpressions');
    const byKey = new Map<string, ReadonlySet<string>>();
    for (const [j, { key, values }] of (term.matchLabelExpressions ?? []).entries()) {
      const at = path.index(j);
      if ((values ?? []).length === 0) errors.push(required(at.child('values')));
      const unique = new Set<string>();
      for (const [k, value] of (values ?? []).entries()) {
        if (unique.has(value)) errors.push(duplicate(at.child('values').index(k), value));
        unique.add(value);
      }
      errors.push(...validateLabelName(key, at.child('key')));
      if (byKey.has(key)) errors.push(duplicate(at.child('key'), key));
      else byKey.set(key, unique);
    }
    // A term without expressions says nothing, and is refused with the same words.
    const isTwice = byKey.size === 0 || seenTerms.some((seen) => isDeepStrictEqual(seen, byKey));
    if (isTwice) errors.push(duplicate(path, ''));
    seenTerms.push(byKey);
  }
}
