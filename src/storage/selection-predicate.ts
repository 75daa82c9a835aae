import type { FieldSelector } from '../base/machinery/field-selector.js';
import type { LabelSelector, Labels } from '../base/machinery/label-selector.js';
import type { StorageKey } from './storage-key.js';

/**
 * The attributes of one state of an object that selection needs; extracted once per state. Objects with equal
 * attributes may share them.
 */
export interface ObjectAttributes {
  /** The source that extracted the attributes; attributes of another source must not be used. */
  readonly source: AttributeSource;
  readonly labels: Labels | undefined;
  /** Values of the selectable fields of the kind. Name and namespace are in the key. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Extracts attributes from the stored text of one kind. One instance per kind, so that its results can be kept. */
export interface AttributeSource {
  /**
   * Prefix of texts whose selectable fields have exactly the values that the text contains: a value that is a string is
   * a string in the text as well. Undefined if nothing is known about fields.
   */
  readonly presentPrefix?: string | undefined;
  extract(json: string): ObjectAttributes;
}

/** Selects objects of a resource by their attributes. */
export interface SelectionPredicate {
  readonly source: AttributeSource;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Whether the object with that key and these attributes is selected. */
export function selects(
  { labels, fields }: SelectionPredicate,
  attributes: ObjectAttributes,
  { namespace, name }: Pick<StorageKey, 'namespace' | 'name'>,
): boolean {
  if (!labels.matches(attributes.labels)) return false;
  if (fields.requirements.length === 0) return true;
  return fields.matches({ ...attributes.fields, 'metadata.name': name, 'metadata.namespace': namespace });
}
