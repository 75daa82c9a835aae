import { always, type Infer, intOrString, kind, pointer, struct } from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { labelSelector } from '../../meta/v1/selector.types.js';
import { podDisruptionBudgetStatus, unhealthyPodEvictionPolicyType } from '../v1/pod-disruption-budget.types.js';

export const podDisruptionBudgetSpec = struct('policy.v1beta1.PodDisruptionBudgetSpec', {
  minAvailable: pointer(1, intOrString, { doc: 'How many must stay: a number or a percentage.' }),
  selector: pointer(2, labelSelector, { doc: 'Labels of the pods.' }),
  maxUnavailable: pointer(3, intOrString, { doc: 'How many may be away: a number or a percentage.' }),
  unhealthyPodEvictionPolicy: pointer(4, unhealthyPodEvictionPolicyType, {
    doc: 'Whether pods that are not healthy may always go.',
  }),
});
export type PodDisruptionBudgetSpec = Infer<typeof podDisruptionBudgetSpec>;

export const podDisruptionBudget = kind(
  { group: 'policy', version: 'v1beta1', kind: 'PodDisruptionBudget', scope: 'Namespaced' },
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
