import { type FieldRequirement, parseFieldSelector } from './field-selector.js';
import { type LabelRequirement, parseLabelSelector } from './label-selector.js';

/**
 * The selectors of a request whose access is to be decided, as text or as requirements. Plain data, since it is sent
 * between threads. Few authorization modules use selectors, so the text is parsed only where one does.
 */
export interface AskedSelectors {
  readonly fields: string | readonly FieldRequirement[];
  readonly labels: string | readonly LabelRequirement[];
}

/** Combines both selectors; undefined when neither narrows the access. */
export function askedSelectors(
  fields: AskedSelectors['fields'],
  labels: AskedSelectors['labels'],
): AskedSelectors | undefined {
  return fields.length === 0 && labels.length === 0 ? undefined : { fields, labels };
}

/** The requirements on fields: none if the text can't be parsed, so the access then concerns all objects. */
export function askedFields(selectors: AskedSelectors | undefined): readonly FieldRequirement[] {
  return requirementsOf(selectors?.fields ?? '', parseFieldSelector);
}

/** The requirements on labels: none if the text can't be parsed, so the access then concerns all objects. */
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
    // The request handler reports an invalid selector, after authorization.
    return [];
  }
}
