import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, forbidden, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import { structDiff } from '../../../base/machinery/schema/struct-diff.js';
import { compareQuantities, quantitySign, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import {
  type PersistentVolumeClaimSpec,
  persistentVolumeClaimSpec,
} from '../../../objects/apis/core/v1/persistent-volume-claim-spec.types.js';
import { checkImmutable, checkOneOf, checkText } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import { checkAccessModes } from '../access-modes.validation.js';

const specPath = FieldPath.of('spec');
const requestPath = specPath.child('resources').child('requests').child('storage');
const claimKind = 'PersistentVolumeClaim';
const immutableSpec =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Validates a new claim. */
export function validatePersistentVolumeClaim(object: PersistentVolumeClaim): FieldError[] {
  return validatePersistentVolumeClaimSpec(object.spec, specPath);
}

/** Validates the spec of any claim. */
function validatePersistentVolumeClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  const modesPath = path.child('accessModes');
  if (modes.length === 0) errors.push(required(modesPath, 'at least 1 access mode is required'));
  errors.push(...validateLabelSelector(spec.selector, path.child('selector')));
  checkAccessModes(modes, modesPath, errors);
  const size = spec.resources.requests?.storage;
  const sizePath = path.child('resources').key('storage');
  if (size === undefined) errors.push(required(sizePath));
  else if (quantitySign(size) <= 0) errors.push(invalid(sizePath, size, 'must be greater than zero'));
  if (spec.storageClassName) {
    checkText(spec.storageClassName, isDns1123Subdomain, path.child('storageClassName'), errors);
  }
  if (spec.volumeMode !== undefined) {
    checkOneOf(spec.volumeMode, ['Block', 'Filesystem'], path.child('volumeMode'), errors);
  }
  for (const field of ['dataSource', 'dataSourceRef'] as const) {
    const source = spec[field];
    if (source !== undefined) validateDataSource(source, path.child(field), errors);
  }
  validateSameSource(spec, path, errors);
  if (spec.volumeAttributesClassName) {
    checkText(spec.volumeAttributesClassName, isDns1123Subdomain, path.child('volumeAttributesClassName'), errors);
  }
  return errors;
}

interface DataSource {
  readonly apiGroup: string | null;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

function validateDataSource(source: DataSource, path: FieldPath, errors: FieldError[]): void {
  if (source.name === '') errors.push(required(path.child('name')));
  if (source.kind === '') errors.push(required(path.child('kind')));
  if (source.namespace) checkText(source.namespace, isDns1123Label, path.child('namespace'), errors);
  const group = source.apiGroup ?? '';
  if (group !== '') checkText(group, isDns1123Subdomain, path.child('apiGroup'), errors);
  else if (source.kind !== claimKind) {
    const detail = `must be '${claimKind}' when referencing the default apiGroup`;
    errors.push(invalid(path, source.kind, detail));
  }
}

/** Checks that both fields for the source of a claim's data agree, unless the source is in another namespace. */
function validateSameSource(spec: PersistentVolumeClaimSpec, path: FieldPath, errors: FieldError[]): void {
  const { dataSource, dataSourceRef } = spec;
  if (dataSourceRef?.namespace) {
    if (dataSource === undefined) return;
    const detail = 'may not be specified when dataSourceRef.namespace is specified';
    errors.push(invalid(path, path.child('dataSource').toString(), detail));
    return;
  }
  if (dataSource === undefined || dataSourceRef === undefined) return;
  const { namespace: _none, ...reference } = dataSourceRef;
  if (!isDeepStrictEqual(reference, dataSource)) {
    errors.push(invalid(path, path.child('dataSource').toString(), 'must match dataSourceRef'));
  }
}

/** Validates a changed claim: only its volume and class may be set, and a bound claim may grow. */
export function validatePersistentVolumeClaimUpdate(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  names: VendorNames,
): FieldError[] {
  const errors = validatePersistentVolumeClaim(object);
  const size = object.spec.resources.requests?.storage;
  const oldSize = old.spec.resources.requests?.storage;
  const frozen = frozenPart(object, old, names);
  if (!isDeepStrictEqual(frozen, { ...old.spec })) {
    errors.push(forbidden(specPath, `${immutableSpec}\n${structDiff(persistentVolumeClaimSpec, old.spec, frozen)}`));
  }
  if (size !== undefined && oldSize !== undefined && compareQuantities(size, oldSize) < 0) {
    // The requested size may be reduced again as long as the volume has not grown.
    const granted = old.status.capacity?.storage;
    if (granted === undefined || compareQuantities(size, granted) <= 0) {
      errors.push(forbidden(requestPath, 'field can not be less than status.capacity'));
    }
  }
  checkImmutable(object.spec.volumeMode, old.spec.volumeMode, FieldPath.of('volumeMode'), errors);
  return errors;
}

/** The new spec with the old value of every changeable field. */
function frozenPart(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  names: VendorNames,
): PersistentVolumeClaimSpec {
  const part = { ...object.spec };
  if (!old.spec.volumeName) delete part.volumeName;
  const classAnnotation = `volume.beta.${names.labelPrefix}/storage-class`;
  const hadClass = old.spec.storageClassName !== undefined || old.metadata.annotations?.[classAnnotation] !== undefined;
  if (!hadClass) delete part.storageClassName;
  if (object.status.phase !== 'Bound') return part;
  const oldSize = old.spec.resources.requests?.storage;
  if (part.resources.requests !== undefined && oldSize !== undefined) {
    part.resources = { ...part.resources, requests: { ...part.resources.requests, storage: oldSize } };
  }
  if (old.spec.volumeAttributesClassName === undefined) delete part.volumeAttributesClassName;
  else part.volumeAttributesClassName = old.spec.volumeAttributesClassName;
  return part;
}

/** Validates the status. */
export function validatePersistentVolumeClaimStatus(object: PersistentVolumeClaim): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['capacity', 'allocatedResources'] as const) {
    for (const [name, value] of Object.entries(object.status[field] ?? {})) {
      if (quantitySign(value) >= 0) continue;
      const path = FieldPath.of('status', field).key(name);
      errors.push(invalid(path, quantityValue(value), 'must be a valid resource quantity'));
    }
  }
  return errors;
}
