import type { FieldSelector } from '../machinery/field-selector.js';
import type { LabelSelector, Labels } from '../machinery/label-selector.js';

/** What selection looks at in one state of an object; extracted once per state. */
export interface ObjectAttributes {
  /** Who extracted it: attributes of another source say nothing. */
  readonly source: AttributeSource;
  readonly labels: Labels | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** Knows how stored text of one kind is looked into. One instance per kind, so that its results can be kept. */
export interface AttributeSource {
  extract(json: string): ObjectAttributes;
}

/** Which objects of a resource are wanted. */
export interface SelectionPredicate {
  readonly source: AttributeSource;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Whether an object with these attributes is wanted. */
export function selects(predicate: SelectionPredicate, attributes: ObjectAttributes): boolean {
  return predicate.labels.matches(attributes.labels) && predicate.fields.matches(attributes.fields);
}
