import {
  enumOf,
  type Infer,
  list,
  map,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const labelSelectorOperator = enumOf('DoesNotExist', 'Exists', 'In', 'NotIn');
export type LabelSelectorOperator = Infer<typeof labelSelectorOperator>;

export const labelSelectorRequirement = struct(
  'meta.v1.LabelSelectorRequirement',
  {
    key: required(1, string, { doc: 'Name of the label.' }),
    operator: required(2, labelSelectorOperator, { doc: 'In, NotIn, Exists or DoesNotExist.' }),
    values: optional(3, list(string), { doc: 'Values for In and NotIn.' }),
  },
  { doc: 'One demand on a label.' },
);
export type LabelSelectorRequirement = Infer<typeof labelSelectorRequirement>;

export const labelSelector = struct(
  'meta.v1.LabelSelector',
  {
    matchLabels: optional(1, map(string), { doc: 'Labels and the values that they must have.' }),
    matchExpressions: optional(2, list(labelSelectorRequirement), { doc: 'Requirements that must all hold.' }),
  },
  { mapType: 'atomic', doc: 'Chooses objects by labels. Empty matches everything.' },
);
export type LabelSelector = Infer<typeof labelSelector>;

export const fieldSelectorOperator = enumOf('DoesNotExist', 'Exists', 'In', 'NotIn');
export type FieldSelectorOperator = Infer<typeof fieldSelectorOperator>;

export const fieldSelectorRequirement = struct('meta.v1.FieldSelectorRequirement', {
  key: required(1, string),
  operator: required(2, fieldSelectorOperator),
  values: optional(3, list(string)),
});
export type FieldSelectorRequirement = Infer<typeof fieldSelectorRequirement>;
