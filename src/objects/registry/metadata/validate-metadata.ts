import type { ObjectMeta, OwnerReference } from '../../../base/machinery/api-object.js';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { validateAnnotations, validateLabels } from '../../../base/machinery/label-rules.js';
import { isDns1123Label, isQualifiedName } from '../../../base/machinery/names.js';

const metadataPath = FieldPath.of('metadata');
const maxFieldManagerLength = 128;

/** Finalizers with a meaning of their own; all others must be qualified names. */
const standardFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Options in which the kinds differ. */
export interface MetadataOptions {
  /** Whether finalizers may be names without a prefix. Default false. */
  readonly plainFinalizers?: boolean | undefined;
}

/** Validates the metadata of a new object (specification 2.2). */
export function validateMetadata(
  meta: ObjectMeta,
  namespaced: boolean,
  validateName: (name: string, prefix: boolean) => string[],
  options: MetadataOptions = {},
): FieldError[] {
  const errors: FieldError[] = [];
  const namePath = metadataPath.child('name');
  if (meta.generateName) {
    for (const m of validateName(meta.generateName, true)) {
      errors.push(invalid(metadataPath.child('generateName'), meta.generateName, m));
    }
  }
  if (!meta.name) errors.push(required(namePath, 'name or generateName is required'));
  else for (const m of validateName(meta.name, false)) errors.push(invalid(namePath, meta.name, m));

  const namespacePath = metadataPath.child('namespace');
  if (namespaced) {
    if (!meta.namespace) errors.push(required(namespacePath));
    else for (const m of isDns1123Label(meta.namespace)) errors.push(invalid(namespacePath, meta.namespace, m));
  } else if (meta.namespace) {
    errors.push(forbidden(namespacePath, 'not allowed on this type'));
  }
  validateCommon(meta, options, errors);
  return errors;
}

/** Validates changed metadata. `meta` already has the fields that only the server sets. */
export function validateMetadataUpdate(meta: ObjectMeta, old: ObjectMeta, options: MetadataOptions = {}): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const had = new Set(old.finalizers);
    const added = (meta.finalizers ?? []).filter((f) => !had.has(f));
    if (added.length > 0) {
      const list = `[]string{${added.map((f) => JSON.stringify(f)).join(', ')}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(forbidden(metadataPath.child('finalizers'), detail));
    }
  }
  for (const field of ['name', 'namespace', 'uid', 'deletionTimestamp'] as const) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) {
      errors.push(invalid(metadataPath.child(field), meta[field], 'field is immutable'));
    }
  }
  if (meta.deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds) {
    const path = metadataPath.child('deletionGracePeriodSeconds');
    errors.push(invalid(path, meta.deletionGracePeriodSeconds, 'field is immutable'));
  }
  validateCommon(meta, options, errors);
  return errors;
}

function validateCommon(meta: ObjectMeta, { plainFinalizers }: MetadataOptions, errors: FieldError[]): void {
  if ((meta.generation ?? 0) < 0) {
    const detail = 'must be greater than or equal to 0';
    errors.push(invalid(metadataPath.child('generation'), meta.generation, detail));
  }
  for (const error of validateLabels(meta.labels, metadataPath.child('labels'))) errors.push(error);
  for (const error of validateAnnotations(meta.annotations, metadataPath.child('annotations'))) errors.push(error);
  if (meta.ownerReferences !== undefined) validateOwnerReferences(meta.ownerReferences, errors);
  if (meta.finalizers !== undefined) validateFinalizers(meta.finalizers, plainFinalizers === true, errors);
  validateManagedFields(meta, errors);
}

/**
 * Errors for metadata larger than the limits, as a client sent it, in whatever form. Checked first, so that no other
 * work is spent on an object that is refused for its size.
 */
export function oversizedMetadata(metadata: unknown): FieldError[] {
  if (typeof metadata !== 'object' || metadata === null) return [];
  const { labels, annotations, finalizers, ownerReferences, managedFields } = metadata as Record<string, unknown>;
  const errors: FieldError[] = [];
  const tooLarge = (name: string, limit: number) => errors.push(tooLong(metadataPath.child(name), limit));
  if (isTooLongMap(labels, maxMapBytes)) tooLarge('labels', maxMapBytes);
  if (isTooLongMap(annotations, maxMapBytes)) tooLarge('annotations', maxMapBytes);
  if (Array.isArray(finalizers) && isTooLong(finalizers, maxFinalizerBytes)) {
    tooLarge('finalizers', maxFinalizerBytes);
  }
  const count = (name: string, list: unknown, limit: number) => {
    if (Array.isArray(list) && list.length > limit) {
      errors.push(tooMany(metadataPath.child(name), list.length, limit));
    }
  };
  count('ownerReferences', ownerReferences, maxOwnerReferences);
  count('managedFields', managedFields, maxManagers);
  return errors;
}

/** Counts characters; there are never more of them than bytes. */
function isTooLongMap(map: unknown, limit: number): boolean {
  if (typeof map !== 'object' || map === null) return false;
  let total = 0;
  for (const key in map) {
    const value = (map as Record<string, unknown>)[key];
    total += key.length + (typeof value === 'string' ? value.length : 0);
    if (total > limit) return true;
  }
  return false;
}

const maxMapBytes = 256 * 1024;
const maxControllerErrors = 10;
/** Most owners of one object; far above the needs of controllers. */
const maxOwnerReferences = 2_000;

function validateOwnerReferences(references: readonly OwnerReference[], errors: FieldError[]): void {
  const path = metadataPath.child('ownerReferences');
  if (references.length > maxOwnerReferences) {
    errors.push(tooMany(path, references.length, maxOwnerReferences));
    return;
  }
  let controller: OwnerReference | undefined;
  for (const [i, reference] of references.entries()) {
    const at = path.index(i);
    const groupVersion = validateReferenceFields(reference, at, errors);
    if (groupVersion?.group === '' && groupVersion.version === 'v1' && reference.kind === 'Event') {
      errors.push(invalid(at, reference, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (reference.controller !== true) continue;
    // The message shows all references, so it is not repeated for each when there are very many.
    if (controller !== undefined && errors.length < maxControllerErrors) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller.kind}/${controller.name} and ${reference.kind}/${reference.name}`;
      errors.push(invalid(path, references, detail));
    }
    controller = reference;
  }
}

/**
 * Checks the fields that an owner reference must have.
 *
 * @returns the parsed version of the owner, if it is one
 */
export function validateReferenceFields(
  reference: Partial<OwnerReference>,
  path: FieldPath,
  errors: FieldError[],
): ReturnType<typeof parseApiVersion> {
  const missing = 'must not be empty';
  const { apiVersion = '', kind, name, uid } = reference;
  const groupVersion = apiVersion === '' ? undefined : parseApiVersion(apiVersion);
  if (apiVersion === '') errors.push(required(path.child('apiVersion'), missing));
  else if (!groupVersion?.version) {
    errors.push(invalid(path.child('apiVersion'), apiVersion, 'must be <group>/<version> or <version>'));
  }
  if (!kind) errors.push(required(path.child('kind'), missing));
  if (!name) errors.push(required(path.child('name'), missing));
  if (!uid) errors.push(required(path.child('uid'), missing));
  return groupVersion;
}

/** Most bytes of all finalizer names together; far above the needs of controllers. */
const maxFinalizerBytes = 256 * 1024;

function isTooLong(texts: readonly unknown[], limit: number): boolean {
  let total = 0;
  for (const text of texts) {
    total += typeof text === 'string' ? text.length : 0;
    if (total > limit) return true;
  }
  return false;
}

function validateFinalizers(finalizers: readonly string[], mayBePlain: boolean, errors: FieldError[]): void {
  const path = metadataPath.child('finalizers');
  if (isTooLong(finalizers, maxFinalizerBytes)) {
    errors.push(tooLong(path, maxFinalizerBytes));
    return;
  }
  for (const finalizer of finalizers) {
    for (const m of isQualifiedName(finalizer)) errors.push(invalid(path, finalizer, m));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  if (mayBePlain) return;
  finalizers.forEach((finalizer, i) => {
    if (finalizer.includes('/') || standardFinalizers.has(finalizer)) return;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.push(invalid(path.index(i), finalizer, detail));
  });
}

/** The most entries of one object. Entries of updates are merged beyond ten, those of applies are not. */
const maxManagers = 1_000;

function validateManagedFields(meta: ObjectMeta, errors: FieldError[]): void {
  const path = metadataPath.child('managedFields');
  const count = meta.managedFields?.length ?? 0;
  if (count > maxManagers) {
    errors.push(tooMany(path, count, maxManagers));
    return;
  }
  meta.managedFields?.forEach((entry, i) => {
    const at = path.index(i);
    if (entry.operation !== undefined && entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalid(at.child('operation'), entry.operation, 'must be `Apply` or `Update`'));
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalid(at.child('fieldsType'), entry.fieldsType, 'must be `FieldsV1`'));
    }
    errors.push(...validateFieldManager(entry.manager ?? '', at.child('manager')));
  });
}

/** Validates a field manager's name: at most 128 printable characters. */
export function validateFieldManager(manager: string, path: FieldPath): FieldError[] {
  if (manager.length > maxFieldManagerLength) return [tooLong(path, maxFieldManagerLength)];
  const errors: FieldError[] = [];
  let position = 0;
  for (const c of manager) {
    // Control and other invisible characters; a space is printable.
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(c)) {
      const code = (c.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(c);
  }
  return errors;
}
