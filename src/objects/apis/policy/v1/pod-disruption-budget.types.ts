import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  intOrString,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const unhealthyPodEvictionPolicyType = enumOf('AlwaysAllow', 'IfHealthyBudget');
export type UnhealthyPodEvictionPolicyType = Infer<typeof unhealthyPodEvictionPolicyType>;

export const podDisruptionBudgetSpec = struct('policy.v1.PodDisruptionBudgetSpec', {
  minAvailable: pointer(1, intOrString, { doc: 'How many must stay: a number or a percentage.' }),
  selector: pointer(2, labelSelector, { patch: { strategy: 'replace' }, doc: 'Labels of the pods.' }),
  maxUnavailable: pointer(3, intOrString, { doc: 'How many may be away: a number or a percentage.' }),
  unhealthyPodEvictionPolicy: pointer(4, unhealthyPodEvictionPolicyType, {
    doc: 'Whether pods that are not healthy may always go.',
  }),
});
export type PodDisruptionBudgetSpec = Infer<typeof podDisruptionBudgetSpec>;

export const podDisruptionBudgetStatus = struct('policy.v1.PodDisruptionBudgetStatus', {
  observedGeneration: optional(1, int64, { doc: 'Generation of the object that this status is about.' }),
  disruptedPods: optional(2, map(time), { doc: 'Pods that are about to go.' }),
  disruptionsAllowed: always(3, int32, { doc: 'How many pods may go now.' }),
  currentHealthy: always(4, int32, { doc: 'Healthy pods.' }),
  desiredHealthy: always(5, int32, { doc: 'Healthy pods that are needed.' }),
  expectedPods: always(6, int32, { doc: 'All pods that count.' }),
  conditions: optional(7, list(condition), { ...mergedBy('type'), doc: 'Aspects of the state, each with its reason.' }),
});
export type PodDisruptionBudgetStatus = Infer<typeof podDisruptionBudgetStatus>;

export const podDisruptionBudget = kind(
  { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, podDisruptionBudgetSpec),
    status: always(3, podDisruptionBudgetStatus),
  },
  { doc: 'Says how many pods may be taken away at a time.' },
);
export type PodDisruptionBudget = Infer<typeof podDisruptionBudget>;

export const podDisruptionBudgetList = listKind(podDisruptionBudget);
export type PodDisruptionBudgetList = Infer<typeof podDisruptionBudgetList>;
