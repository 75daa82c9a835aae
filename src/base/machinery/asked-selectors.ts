import { type FieldRequirement, parseFieldSelector } from './field-selector.js';
import { type LabelRequirement, parseLabelSelector } from './label-selector.js';

/**
 * The selectors that narrow a question to the authorization modules, as text of a request or as requirements. Plain
 * data, since questions travel between threads. Few modules look at selectors, so the text is parsed where one does.
 */
export interface AskedSelectors {
  readonly fields: string | readonly FieldRequirement[];
  readonly labels: string | readonly LabelRequirement[];
}

/** Undefined when neither selects anything. */
export function askedSelectors(
  fields: AskedSelectors['fields'],
  labels: AskedSelectors['labels'],
): AskedSelectors | undefined {
  return fields.length === 0 && labels.length === 0 ? undefined : { fields, labels };
}

/** What is required of fields: nothing if the text can't be parsed, so the question is then about all objects. */
export function askedFields(selectors: AskedSelectors | undefined): readonly FieldRequirement[] {
  return requirementsOf(selectors?.fields ?? '', parseFieldSelector);
}

/** What is required of labels: nothing if the text can't be parsed, so the question is then about all objects. */
export function askedLabels(selectors: AskedSelectors | undefined): readonly LabelRequirement[] {
  return requirementsOf(selectors?.labels ?? '', parseLabelSelector);
}

function requirementsOf<R>(
  asked: string | readonly R[],
  parse: (text: string) => { readonly requirements: readonly R[] },
): readonly R[] {
  if (typeof asked !== 'string') return asked;
  if (asked === '') return [];
  try {
    return parse(asked).requirements;
  } catch {
    // The handler answers a bad selector, after authorization.
    return [];
  }
}
