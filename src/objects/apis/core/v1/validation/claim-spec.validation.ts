import { isDeepStrictEqual } from 'node:util';
import { type FieldError, type FieldPath, invalid, required } from '../../../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain } from '../../../../../base/machinery/names.js';
import { quantitySign } from '../../../../../base/machinery/values/quantity.js';
import { validateLabelSelector } from '../../../meta/v1/validation/label-selector.validation.js';
import type { PersistentVolumeClaimSpec } from '../persistent-volume-claim-spec.types.js';
import { checkAccessModes } from './access-modes.validation.js';
import { checkOneOf, checkText } from './common.validation.js';

const claimKind = 'PersistentVolumeClaim';

/** Validates the spec of any claim: an object of its own, or a template in a pod or a stateful set. */
export function validatePersistentVolumeClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
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
  const group = source.apiGroup ?? '';
  if (group !== '') checkText(group, isDns1123Subdomain, path.child('apiGroup'), errors);
  else if (source.kind !== claimKind) {
    const detail = `must be '${claimKind}' when referencing the default apiGroup`;
    errors.push(invalid(path, source.kind, detail));
  }
  if (source.namespace) checkText(source.namespace, isDns1123Label, path.child('namespace'), errors);
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
