import { isDeepStrictEqual } from 'node:util';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { structDiff } from '../../../base/machinery/schema/struct-diff.js';
import { quantitySign, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { replacementOf } from '../../../objects/apis/core/v1/deprecated-labels.js';
import {
  type PersistentVolume,
  type PersistentVolumeSpec,
  persistentVolumeSource,
} from '../../../objects/apis/core/v1/persistent-volume.types.js';
import { checkAccessModes } from '../../../objects/apis/core/v1/validation/access-modes.validation.js';
import { checkImmutable, checkOneOf, checkText } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { validateNodeSelector } from '../../../objects/apis/core/v1/validation/scheduling.validation.js';
import { validateSource } from './volume-source.validation.js';

const specPath = FieldPath.of('spec');
const reclaimPath = specPath.child('persistentVolumeReclaimPolicy');

/** Every kind of storage that a volume can use; it uses exactly one. */
const sourceNames = persistentVolumeSource.fields.map(({ name }) => name) as (keyof PersistentVolumeSpec)[];

/** Validates a new volume. */
export function validatePersistentVolume(object: PersistentVolume, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  const { spec } = object;
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(required(specPath.child('accessModes')));
  checkAccessModes(modes, specPath.child('accessModes'), errors);
  validateCapacity(spec, errors);
  if (spec.persistentVolumeReclaimPolicy) {
    checkOneOf(spec.persistentVolumeReclaimPolicy, ['Delete', 'Recycle', 'Retain'], reclaimPath, errors);
  }
  if (spec.nodeAffinity !== undefined) {
    const path = specPath.child('nodeAffinity').child('required');
    if (spec.nodeAffinity.required === undefined) errors.push(required(path, 'must specify required node constraints'));
    else validateNodeSelector(spec.nodeAffinity.required, path, errors);
  }
  validateSources(spec, names, errors);
  if (spec.hostPath !== undefined && spec.persistentVolumeReclaimPolicy === 'Recycle' && isRoot(spec.hostPath.path)) {
    errors.push(forbidden(reclaimPath, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  if (spec.storageClassName) {
    checkText(spec.storageClassName, isDns1123Subdomain, specPath.child('storageClassName'), errors);
  }
  if (spec.volumeMode !== undefined) {
    checkOneOf(spec.volumeMode, ['Block', 'Filesystem'], specPath.child('volumeMode'), errors);
  }
  if (spec.volumeAttributesClassName !== undefined) {
    const path = specPath.child('volumeAttributesClassName');
    if (spec.volumeAttributesClassName === '') errors.push(required(path, 'an empty string is disallowed'));
    else checkText(spec.volumeAttributesClassName, isDns1123Subdomain, path, errors);
    if (spec.csi === undefined)
      errors.push(required(specPath.child('csi'), 'has to be specified when using volumeAttributesClassName'));
  }
  return errors;
}

function validateCapacity(spec: PersistentVolumeSpec, errors: FieldError[]): void {
  const path = specPath.child('capacity');
  const capacity = spec.capacity ?? {};
  const names = Object.keys(capacity);
  if (names.length === 0) errors.push(required(path));
  if (names.length !== 1 || names[0] !== 'storage') errors.push(notSupported(path, spec.capacity, ['storage']));
  for (const [name, value] of Object.entries(capacity)) {
    if (quantitySign(value) < 0) {
      errors.push(invalid(path.key(name), quantityValue(value), 'must be a valid resource quantity'));
    }
    if (quantitySign(value) <= 0) errors.push(invalid(path.key(name), value, 'must be greater than zero'));
  }
}

function validateSources(spec: PersistentVolumeSpec, names: VendorNames, errors: FieldError[]): void {
  let isFirst = true;
  for (const name of sourceOrder) {
    if (spec[name] === undefined) continue;
    // Volumes of this driver are checked even beside another source.
    if (isFirst || name === 'flexVolume') validateSource(spec, name, names, errors);
    else {
      const field = name === 'cephfs' ? 'cephFS' : name;
      errors.push(forbidden(specPath.child(field), 'may not specify more than 1 volume type'));
    }
    isFirst = false;
  }
  if (isFirst) errors.push(required(specPath, 'must specify a volume type'));
}

/** A path on the node comes first, because messages name each further source. */
const sourceOrder = ['hostPath' as const, ...sourceNames.filter((name) => name !== 'hostPath')];

function isRoot(path: string): boolean {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  return kept.length === 0;
}

/** Validates a changed volume: the place and form of the storage stay the same. */
export function validatePersistentVolumeUpdate(
  object: PersistentVolume,
  old: PersistentVolume,
  names: VendorNames,
): FieldError[] {
  const errors = validatePersistentVolume(object, names);
  const [sources, oldSources] = [sourcesOf(object.spec, old.spec), sourcesOf(old.spec, old.spec)];
  if (!isDeepStrictEqual(sources, oldSources)) {
    const path = specPath.child('persistentvolumesource');
    const change = structDiff(persistentVolumeSource, oldSources, sources);
    errors.push(forbidden(path, `spec.persistentvolumesource is immutable after creation\n${change}`));
  }
  checkImmutable(object.spec.volumeMode, old.spec.volumeMode, FieldPath.of('volumeMode'), errors);
  const { nodeAffinity } = object.spec;
  if (old.spec.nodeAffinity !== undefined && !isSameAffinity(nodeAffinity, old.spec.nodeAffinity, names)) {
    const detail = 'field is immutable, except for updating from beta label to GA';
    errors.push(invalid(FieldPath.of('nodeAffinity'), nodeAffinity ?? null, detail));
  }
  return errors;
}

/** Whether the nodes stay the same: labels of nodes may be named by the keys that they have had since. */
function isSameAffinity(
  affinity: PersistentVolumeSpec['nodeAffinity'],
  old: PersistentVolumeSpec['nodeAffinity'],
  names: VendorNames,
): boolean {
  if (isDeepStrictEqual(affinity, old)) return true;
  const terms = affinity?.required?.nodeSelectorTerms ?? [];
  const before = (old?.required?.nodeSelectorTerms ?? []).map((term, i) => ({
    ...term,
    matchExpressions: term.matchExpressions?.map((expression, j) => {
      const now = terms[i]?.matchExpressions?.[j]?.key;
      const replaced = replacementOf(expression.key, names)?.label;
      return replaced !== undefined && replaced === now ? { ...expression, key: replaced } : expression;
    }),
  }));
  return isDeepStrictEqual(
    terms,
    before.map(({ matchExpressions, ...rest }) =>
      matchExpressions === undefined ? rest : { ...rest, matchExpressions },
    ),
  );
}

/** The sources of a volume, for comparison: without the secret for expansion, which may be added later. */
function sourcesOf(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): Readonly<Record<string, unknown>> {
  const sources = Object.fromEntries(
    sourceNames.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]),
  );
  if (spec.csi !== undefined && old.csi?.controllerExpandSecretRef === undefined) {
    const { controllerExpandSecretRef: _later, ...csi } = spec.csi;
    sources.csi = csi;
  }
  return sources;
}
