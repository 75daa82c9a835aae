import {
  always,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { crossVersionObjectReference, metricSpec, metricStatus } from './metric.types.js';

export const scalingPolicySelect = enumOf('Disabled', 'Max', 'Min');
export type ScalingPolicySelect = Infer<typeof scalingPolicySelect>;

export const hpaScalingPolicyType = enumOf('Percent', 'Pods');
export type HPAScalingPolicyType = Infer<typeof hpaScalingPolicyType>;

export const hpaScalingPolicy = struct('autoscaling.v2.HPAScalingPolicy', {
  type: required(1, hpaScalingPolicyType),
  value: required(2, int32),
  periodSeconds: required(3, int32),
});
export type HPAScalingPolicy = Infer<typeof hpaScalingPolicy>;

export const hpaScalingRules = struct('autoscaling.v2.HPAScalingRules', {
  stabilizationWindowSeconds: pointer(3, int32),
  selectPolicy: pointer(1, scalingPolicySelect),
  // No defaults are filled in for an empty list, which validation refuses.
  policies: pointer(2, list(hpaScalingPolicy)),
  tolerance: pointer(4, quantity),
});
export type HPAScalingRules = Infer<typeof hpaScalingRules>;

export const horizontalPodAutoscalerBehavior = struct('autoscaling.v2.HorizontalPodAutoscalerBehavior', {
  scaleUp: pointer(1, hpaScalingRules),
  scaleDown: pointer(2, hpaScalingRules),
});
export type HorizontalPodAutoscalerBehavior = Infer<typeof horizontalPodAutoscalerBehavior>;

export const horizontalPodAutoscalerSpec = struct('autoscaling.v2.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: required(1, crossVersionObjectReference, { doc: 'What is scaled.' }),
  minReplicas: pointer(2, int32, { doc: 'Fewest pods.' }),
  maxReplicas: required(3, int32, { doc: 'Most pods.' }),
  metrics: optional(4, list(metricSpec), { doc: 'What the load is measured by.' }),
  behavior: pointer(5, horizontalPodAutoscalerBehavior, { doc: 'How fast to go up and down.' }),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof horizontalPodAutoscalerSpec>;

export const horizontalPodAutoscalerConditionType = enumOf(
  'AbleToScale',
  'ScaledToZero',
  'ScalingActive',
  'ScalingLimited',
);
export type HorizontalPodAutoscalerConditionType = Infer<typeof horizontalPodAutoscalerConditionType>;

export const horizontalPodAutoscalerCondition = struct(
  'autoscaling.v2.HorizontalPodAutoscalerCondition',
  {
    type: required(1, horizontalPodAutoscalerConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
    observedGeneration: pointer(6, int64, { doc: 'Generation of the object that the condition is about.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type HorizontalPodAutoscalerCondition = Infer<typeof horizontalPodAutoscalerCondition>;

export const horizontalPodAutoscalerStatus = struct('autoscaling.v2.HorizontalPodAutoscalerStatus', {
  observedGeneration: pointer(1, int64, { doc: 'Generation of the object that this status is about.' }),
  lastScaleTime: pointer(2, time, { doc: 'When the number of pods was last changed.' }),
  currentReplicas: optional(3, int32, { doc: 'Number of pods now.' }),
  desiredReplicas: required(4, int32, { doc: 'Number of pods wanted last.' }),
  currentMetrics: always(5, list(metricStatus), { doc: 'Values measured last.' }),
  conditions: optional(6, list(horizontalPodAutoscalerCondition), {
    ...mergedBy('type'),
    doc: 'Aspects of the state, each with its reason.',
  }),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind(
  { group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, horizontalPodAutoscalerSpec),
    status: always(3, horizontalPodAutoscalerStatus),
  },
  { doc: 'Changes a number of pods with the load.' },
);
export type HorizontalPodAutoscaler = Infer<typeof horizontalPodAutoscaler>;

export const horizontalPodAutoscalerList = listKind(horizontalPodAutoscaler);
export type HorizontalPodAutoscalerList = Infer<typeof horizontalPodAutoscalerList>;
