import type { ObjectMeta } from '../../../../../base/machinery/api-object.js';
import { type FieldError, type FieldPath, forbidden } from '../../../../../base/machinery/field-error.js';
import { validateAnnotations, validateLabels } from '../../../../../base/machinery/label-rules.js';

/** Fields that the template of an object can't set, in the order in which messages name them. */
const unsettable = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** Validates the metadata of a template, which has only labels and annotations. */
export function validateTemplateMetadata(metadata: ObjectMeta, path: FieldPath): FieldError[] {
  return [
    ...validateAnnotations(metadata.annotations, path.child('annotations')),
    ...validateLabels(metadata.labels, path.child('labels')),
    ...unsettable
      .filter((name) => ((metadata as Readonly<Record<string, unknown>>)[name] ?? null) !== null)
      .map((name) => forbidden(path.child(name), 'cannot be set')),
  ];
}
