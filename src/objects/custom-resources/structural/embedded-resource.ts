import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import {
  collectErrors,
  type FieldError,
  FieldPath,
  invalid,
  relocated,
  required,
} from '../../../base/machinery/field-error.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import { validateAnnotations, validateLabels } from '../../../base/machinery/label-rules.js';
import { isDns1035Label, isDns1123Label, isPathSegmentName, isQualifiedName } from '../../../base/machinery/names.js';
import { DecodeError, decode } from '../../../base/machinery/schema/index.js';
import { objectMeta } from '../../apis/meta/v1/object-meta.types.js';
import { validateReferenceFields } from '../../registry/metadata/validate-metadata.js';
import type { SchemaFault } from './faults.js';
import type { JsonRecord } from './json-objects.js';

/** The most faults of one embedded resource. */
const maxFaults = 100;

/** The faults of apiVersion, kind and metadata of an embedded resource at a position. */
export function embeddedFaults(value: JsonRecord, place: string): SchemaFault[] {
  const at = (name: string) => (place === '' ? FieldPath.of(name) : FieldPath.of(place, name));
  const { errors } = collectErrors(maxFaults, () => [
    ...apiVersionErrors(value, at('apiVersion')),
    ...kindErrors(value, at('kind')),
    ...metadataErrors(value, at('metadata')),
  ]);
  return errors.map((error) => ({ place: error.field, toError: (path) => relocated(error, path) }));
}

/** The faults of one field: apiVersion, kind or metadata. */
export function metaFieldFaults(field: string, value: unknown): readonly FieldError[] {
  const path = FieldPath.of(field);
  const part: JsonRecord = { [field]: value };
  return collectErrors(maxFaults, () => {
    if (field === 'kind') return kindErrors(part, path);
    return field === 'apiVersion' ? apiVersionErrors(part, path) : metadataErrors(part, path);
  }).errors;
}

function apiVersionErrors({ apiVersion }: JsonRecord, path: FieldPath): FieldError[] {
  if (apiVersion === undefined) return [required(path)];
  if (typeof apiVersion !== 'string') return [invalid(path, apiVersion, 'must be a string')];
  if (apiVersion === '') return [invalid(path, apiVersion, 'must not be empty')];
  if (parseApiVersion(apiVersion) !== undefined) return [];
  return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
}

function kindErrors({ kind }: JsonRecord, path: FieldPath): FieldError[] {
  if (kind === undefined) return [required(path)];
  if (typeof kind !== 'string') return [invalid(path, kind, 'must be a string')];
  if (kind === '') return [invalid(path, kind, 'must not be empty')];
  const messages = isDns1035Label(kind.toLowerCase());
  if (messages.length === 0) return [];
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${messages.join(',')}`)];
}

function metadataErrors({ metadata }: JsonRecord, path: FieldPath): FieldError[] {
  if (metadata === undefined) return [];
  let meta: ObjectMeta;
  try {
    meta = decode(objectMeta, metadata).value as ObjectMeta;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return [invalid(path, '', error.message)];
  }
  const errors: FieldError[] = [];
  const check = (name: 'generateName' | 'name' | 'namespace', rule: (text: string) => string[]) => {
    const text = meta[name];
    if (text) for (const message of rule(text)) errors.push(invalid(path.child(name), text, message));
  };
  check('generateName', isPathSegmentName);
  check('name', isPathSegmentName);
  check('namespace', isDns1123Label);
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalid(path.child('generation'), meta.generation, 'must be greater than or equal to 0'));
  }
  return [
    ...errors,
    ...validateLabels(meta.labels, path.child('labels')),
    ...validateAnnotations(meta.annotations, path.child('annotations')),
    ...ownerErrors(meta, path.child('ownerReferences')),
    ...finalizerErrors(meta, path.child('finalizers')),
  ];
}

function ownerErrors({ ownerReferences }: ObjectMeta, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, reference] of (ownerReferences ?? []).entries())
    validateReferenceFields(reference, path.index(i), errors);
  return errors;
}

function finalizerErrors({ finalizers }: ObjectMeta, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers ?? []) {
    for (const message of isQualifiedName(finalizer)) errors.push(invalid(path, finalizer, message));
  }
  return errors;
}
