import type { FieldSelector } from '../machinery/field-selector.js';
import type { LabelSelector, Labels } from '../machinery/label-selector.js';

/** The attributes of one state of an object that selection needs; extracted once per state. */
export interface ObjectAttributes {
  /** The source that extracted them; attributes of another source mean nothing. */
  readonly source: AttributeSource;
  readonly labels: Labels | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** Extracts attributes from the stored text of one kind. One instance per kind, so that its results can be kept. */
export interface AttributeSource {
  extract(json: string): ObjectAttributes;
}

/** Selects the wanted objects of a resource. */
export interface SelectionPredicate {
  readonly source: AttributeSource;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Whether an object with these attributes is wanted. */
export function selects(predicate: SelectionPredicate, attributes: ObjectAttributes): boolean {
  return predicate.labels.matches(attributes.labels) && predicate.fields.matches(attributes.fields);
}
