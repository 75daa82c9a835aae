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
} from '../../../machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';

export const unhealthyPodEvictionPolicyType = enumOf('AlwaysAllow', 'IfHealthyBudget');
export type UnhealthyPodEvictionPolicyType = Infer<typeof unhealthyPodEvictionPolicyType>;

export const podDisruptionBudgetSpec = struct('policy.v1.PodDisruptionBudgetSpec', {
  minAvailable: pointer(1, intOrString),
  selector: pointer(2, labelSelector, { patch: { strategy: 'replace' } }),
  maxUnavailable: pointer(3, intOrString),
  unhealthyPodEvictionPolicy: pointer(4, unhealthyPodEvictionPolicyType),
});
export type PodDisruptionBudgetSpec = Infer<typeof podDisruptionBudgetSpec>;

export const podDisruptionBudgetStatus = struct('policy.v1.PodDisruptionBudgetStatus', {
  observedGeneration: optional(1, int64),
  disruptedPods: optional(2, map(time)),
  disruptionsAllowed: always(3, int32),
  currentHealthy: always(4, int32),
  desiredHealthy: always(5, int32),
  expectedPods: always(6, int32),
  conditions: optional(7, list(condition), mergedBy('type')),
});
export type PodDisruptionBudgetStatus = Infer<typeof podDisruptionBudgetStatus>;

export const podDisruptionBudget = kind(
  { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, podDisruptionBudgetSpec),
    status: always(3, podDisruptionBudgetStatus),
  },
);
export type PodDisruptionBudget = Infer<typeof podDisruptionBudget>;

export const podDisruptionBudgetList = listKind(podDisruptionBudget);
export type PodDisruptionBudgetList = Infer<typeof podDisruptionBudgetList>;
