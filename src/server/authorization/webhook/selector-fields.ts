import { askedFields, askedLabels } from '../../../base/machinery/asked-selectors.js';
import type { AuthorizerAttributes } from '../../../base/machinery/authorizer.js';
import type { LabelOperator } from '../../../base/machinery/label-selector.js';
import type {
  FieldSelectorRequirement,
  LabelSelectorRequirement,
} from '../../../objects/apis/meta/v1/selector.types.js';

const labelOperators: Readonly<Partial<Record<LabelOperator, LabelSelectorRequirement['operator']>>> = {
  '=': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/** The selectors of a request in the form of an access review. */
export interface SelectorFields {
  readonly fieldSelector?: { readonly requirements: readonly FieldSelectorRequirement[] };
  readonly labelSelector?: { readonly requirements: readonly LabelSelectorRequirement[] };
}

/**
 * The selectors of a request in the form of reviews; empty if there are none. Numeric comparisons, which reviews don't
 * have, are omitted, so that the review covers more objects.
 */
export function selectorFields({ selectors }: AuthorizerAttributes): SelectorFields {
  if (selectors === undefined) return {};
  const fields = askedFields(selectors).map(
    ({ field, equals, value }): FieldSelectorRequirement => ({
      key: field,
      operator: equals ? 'In' : 'NotIn',
      values: [value],
    }),
  );
  const labels = askedLabels(selectors).flatMap(({ key, operator, values }): LabelSelectorRequirement[] => {
    const reviewed = labelOperators[operator];
    if (reviewed === undefined) return [];
    const isOfKey = operator === 'exists' || operator === '!';
    return [{ key, operator: reviewed, ...(isOfKey ? {} : { values: [...values].sort() }) }];
  });
  return {
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  };
}
