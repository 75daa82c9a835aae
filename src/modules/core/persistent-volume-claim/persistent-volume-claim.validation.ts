import { isDeepStrictEqual } from 'node:util';
import { type FieldError, FieldPath, forbidden, invalid, notSupported } from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import { structDiff } from '../../../base/machinery/schema/struct-diff.js';
import { compareQuantities, quantitySign, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import {
  type PersistentVolumeClaimSpec,
  persistentVolumeClaimSpec,
} from '../../../objects/apis/core/v1/persistent-volume-claim-spec.types.js';
import { validatePersistentVolumeClaimSpec } from '../../../objects/apis/core/v1/validation/claim-spec.validation.js';
import { checkImmutable } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { isNativeResource } from '../../../objects/apis/core/v1/validation/resources.validation.js';

const specPath = FieldPath.of('spec');
const statusPath = FieldPath.of('status');
const resizeStates: readonly string[] = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];
const requestPath = specPath.child('resources').child('requests').child('storage');
const immutableSpec =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** Validates a new claim. */
export function validatePersistentVolumeClaim(object: PersistentVolumeClaim): FieldError[] {
  return validatePersistentVolumeClaimSpec(object.spec, specPath);
}

/** Validates a changed claim: only its volume and class may be set, and a bound claim may grow. */
export function validatePersistentVolumeClaimUpdate(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  names: VendorNames,
): FieldError[] {
  const errors = validatePersistentVolumeClaim(object);
  const size = object.spec.resources.requests?.storage ?? '0';
  const oldSize = old.spec.resources.requests?.storage ?? '0';
  checkClassAnnotation(object, old, names, errors);
  const frozen = frozenPart(object, old, names);
  if (!isDeepStrictEqual(frozen, { ...old.spec })) {
    errors.push(forbidden(specPath, `${immutableSpec}\n${structDiff(persistentVolumeClaimSpec, old.spec, frozen)}`));
  }
  if (compareQuantities(size, oldSize) < 0) {
    // The requested size may be reduced again as long as the volume has not grown.
    const granted = old.status.capacity?.storage ?? '0';
    if (compareQuantities(size, granted) <= 0) {
      errors.push(forbidden(requestPath, 'field can not be less than status.capacity'));
    }
  }
  checkImmutable(object.spec.volumeMode, old.spec.volumeMode, FieldPath.of('volumeMode'), errors);
  const attributesClass = object.spec.volumeAttributesClassName;
  if (old.status.currentVolumeAttributesClassName !== undefined && !attributesClass) {
    const change = attributesClass === '' ? 'to empty string' : 'to nil';
    const detail = `update ${change} is forbidden when status.currentVolumeAttributesClassName is not nil`;
    errors.push(forbidden(specPath.child('volumeAttributesClassName'), detail));
  }
  return errors;
}

/** The annotation that named the class before there was a field can't change; the field may replace it. */
function checkClassAnnotation(
  { metadata, spec }: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  names: VendorNames,
  errors: FieldError[],
): void {
  const key = `volume.beta.${names.labelPrefix}/storage-class`;
  const [now, before] = [metadata, old.metadata].map(({ annotations }) => annotations?.[key]);
  if ((now ?? '') === (before ?? '')) return;
  const isReplaced = before === spec.storageClassName && old.spec.storageClassName === undefined && now === undefined;
  if (isReplaced && before !== undefined) return;
  errors.push(invalid(FieldPath.of('metadata', 'annotations').child(key), now ?? '', 'field is immutable'));
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
export function validatePersistentVolumeClaimStatus(
  { status }: PersistentVolumeClaim,
  names: VendorNames,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(status.capacity ?? {})) {
    checkAmount(value, statusPath.child('capacity').key(name), errors);
  }
  const statusesPath = statusPath.child('allocatedResourceStatuses');
  for (const [name, value] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    errors.push(...resourceNameErrors(name, statusesPath, names));
    // Clients know this refusal by the name of the resource, and the states in this order.
    if (!resizeStates.includes(value)) errors.push(notSupported(statusesPath, name, resizeStates));
  }
  const allocatedPath = statusPath.child('allocatedResources');
  for (const [name, value] of Object.entries(status.allocatedResources ?? {})) {
    const wrong = resourceNameErrors(name, allocatedPath, names);
    errors.push(...wrong);
    if (wrong.length === 0) checkAmount(value, allocatedPath.key(name), errors);
  }
  return errors;
}

function checkAmount(value: string, path: FieldPath, errors: FieldError[]): void {
  if (quantitySign(value) >= 0) return;
  errors.push(invalid(path, quantityValue(value), 'must be a valid resource quantity'));
}

/** Checks the name of a resource of a claim: of those without a domain of somebody else there is only storage. */
function resourceNameErrors(name: string, path: FieldPath, names: VendorNames): FieldError[] {
  const errors = isQualifiedName(name).map((message) => invalid(path, name, message));
  if (errors.length > 0 || name === 'storage' || !isNativeResource(name, names)) return errors;
  return [notSupported(path, name, ['storage'])];
}
