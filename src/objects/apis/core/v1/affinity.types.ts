import {
  enumOf,
  type Infer,
  int32,
  int64,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { nodeSelector, nodeSelectorTerm } from './node-selector.types.js';

export const taintEffect = enumOf('NoExecute', 'NoSchedule', 'PreferNoSchedule');
export type TaintEffect = Infer<typeof taintEffect>;

export const taint = struct(
  'core.v1.Taint',
  {
    key: required(1, string, { doc: 'Key of the taint.' }),
    value: optional(2, string, { doc: 'Value of the taint.' }),
    effect: required(3, taintEffect, { doc: 'NoSchedule, PreferNoSchedule or NoExecute.' }),
    timeAdded: pointer(4, time, { doc: 'When the taint was set.' }),
  },
  { doc: 'Keeps pods away from a node.' },
);
export type Taint = Infer<typeof taint>;

export const preferredSchedulingTerm = struct('core.v1.PreferredSchedulingTerm', {
  weight: required(1, int32),
  preference: required(2, nodeSelectorTerm),
});
export type PreferredSchedulingTerm = Infer<typeof preferredSchedulingTerm>;

export const nodeAffinity = struct('core.v1.NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: pointer(1, nodeSelector),
  preferredDuringSchedulingIgnoredDuringExecution: optional(2, list(preferredSchedulingTerm)),
});
export type NodeAffinity = Infer<typeof nodeAffinity>;

export const podAffinityTerm = struct('core.v1.PodAffinityTerm', {
  labelSelector: pointer(1, labelSelector, { doc: 'Chooses by labels.' }),
  namespaces: optional(2, list(string)),
  topologyKey: required(3, string),
  namespaceSelector: pointer(4, labelSelector, { doc: 'Chooses namespaces by their labels.' }),
  matchLabelKeys: optional(5, list(string)),
  mismatchLabelKeys: optional(6, list(string)),
});
export type PodAffinityTerm = Infer<typeof podAffinityTerm>;

export const weightedPodAffinityTerm = struct('core.v1.WeightedPodAffinityTerm', {
  weight: required(1, int32),
  podAffinityTerm: required(2, podAffinityTerm),
});
export type WeightedPodAffinityTerm = Infer<typeof weightedPodAffinityTerm>;

export const podAffinity = struct('core.v1.PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: optional(1, list(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: optional(2, list(weightedPodAffinityTerm)),
});
export type PodAffinity = Infer<typeof podAffinity>;

export const podAntiAffinity = struct('core.v1.PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: optional(1, list(podAffinityTerm)),
  preferredDuringSchedulingIgnoredDuringExecution: optional(2, list(weightedPodAffinityTerm)),
});
export type PodAntiAffinity = Infer<typeof podAntiAffinity>;

export const affinity = struct(
  'core.v1.Affinity',
  {
    nodeAffinity: pointer(1, nodeAffinity, { doc: 'About nodes.' }),
    podAffinity: pointer(2, podAffinity, { doc: 'Near which pods.' }),
    podAntiAffinity: pointer(3, podAntiAffinity, { doc: 'Away from which pods.' }),
  },
  { doc: 'Wishes and demands about where a pod runs.' },
);
export type Affinity = Infer<typeof affinity>;

export const tolerationOperator = enumOf('Equal', 'Exists', 'Gt', 'Lt');
export type TolerationOperator = Infer<typeof tolerationOperator>;

export const toleration = struct(
  'core.v1.Toleration',
  {
    key: optional(1, string, { doc: 'Key of the taint; empty for all.' }),
    operator: optional(2, tolerationOperator, { doc: 'Exists or Equal.' }),
    value: optional(3, string, { doc: 'Value of the taint.' }),
    effect: optional(4, taintEffect, { doc: 'Effect of the taint; empty for all.' }),
    tolerationSeconds: pointer(5, int64, { doc: 'How long NoExecute is put up with, in seconds.' }),
  },
  { doc: 'Taints that a pod puts up with.' },
);
export type Toleration = Infer<typeof toleration>;

export const unsatisfiableConstraintAction = enumOf('DoNotSchedule', 'ScheduleAnyway');
export type UnsatisfiableConstraintAction = Infer<typeof unsatisfiableConstraintAction>;

export const nodeInclusionPolicy = enumOf('Honor', 'Ignore');
export type NodeInclusionPolicy = Infer<typeof nodeInclusionPolicy>;

export const topologySpreadConstraint = struct(
  'core.v1.TopologySpreadConstraint',
  {
    maxSkew: required(1, int32, { doc: 'Largest difference between two domains.' }),
    topologyKey: required(2, string, { doc: 'Node label whose values are the domains.' }),
    whenUnsatisfiable: required(3, unsatisfiableConstraintAction, { doc: 'DoNotSchedule or ScheduleAnyway.' }),
    labelSelector: pointer(4, labelSelector, { doc: 'Chooses by labels.' }),
    minDomains: pointer(5, int32),
    nodeAffinityPolicy: pointer(6, nodeInclusionPolicy),
    nodeTaintsPolicy: pointer(7, nodeInclusionPolicy),
    matchLabelKeys: optional(8, list(string)),
  },
  { doc: 'How pods are spread.' },
);
export type TopologySpreadConstraint = Infer<typeof topologySpreadConstraint>;
