import {
  enumOf,
  type Infer,
  list,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const nodeSelectorOperator = enumOf('DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn');
export type NodeSelectorOperator = Infer<typeof nodeSelectorOperator>;

export const nodeSelectorRequirement = struct('core.v1.NodeSelectorRequirement', {
  key: required(1, string),
  operator: required(2, nodeSelectorOperator),
  values: optional(3, list(string)),
});
export type NodeSelectorRequirement = Infer<typeof nodeSelectorRequirement>;

export const nodeSelectorTerm = struct(
  'core.v1.NodeSelectorTerm',
  {
    matchExpressions: optional(1, list(nodeSelectorRequirement)),
    matchFields: optional(2, list(nodeSelectorRequirement)),
  },
  { mapType: 'atomic' },
);
export type NodeSelectorTerm = Infer<typeof nodeSelectorTerm>;

export const nodeSelector = struct(
  'core.v1.NodeSelector',
  {
    nodeSelectorTerms: required(1, list(nodeSelectorTerm)),
  },
  { mapType: 'atomic' },
);
export type NodeSelector = Infer<typeof nodeSelector>;

export const topologySelectorLabelRequirement = struct('core.v1.TopologySelectorLabelRequirement', {
  key: required(1, string),
  values: required(2, list(string)),
});
export type TopologySelectorLabelRequirement = Infer<typeof topologySelectorLabelRequirement>;

export const topologySelectorTerm = struct(
  'core.v1.TopologySelectorTerm',
  {
    matchLabelExpressions: optional(1, list(topologySelectorLabelRequirement)),
  },
  { mapType: 'atomic' },
);
export type TopologySelectorTerm = Infer<typeof topologySelectorTerm>;
