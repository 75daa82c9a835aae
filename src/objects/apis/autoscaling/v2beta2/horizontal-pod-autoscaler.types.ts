import {
  always,
  enumOf,
  int32,
  int64,
  list,
  optional,
  pointer,
  required,
  type StructType,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { conditionStatus } from '../../core/v1/condition-status.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import {
  horizontalPodAutoscaler as horizontalPodAutoscalerV2,
  hpaScalingPolicy,
  scalingPolicySelect,
} from '../v2/horizontal-pod-autoscaler.types.js';
import { metricStatus } from '../v2/metric.types.js';

/** Types that differ from those of v2, which has further fields in them. */
const own: Record<string, StructType> = {};
const inV2beta2 = typesInVersion('v2beta2', own);

own.HPAScalingRules = struct('autoscaling.v2beta2.HPAScalingRules', {
  stabilizationWindowSeconds: pointer(3, int32),
  selectPolicy: pointer(1, scalingPolicySelect),
  // No defaults are filled in for an empty list, which validation refuses.
  policies: pointer(2, list(inV2beta2(hpaScalingPolicy))),
});

own.HorizontalPodAutoscalerCondition = struct(
  'autoscaling.v2beta2.HorizontalPodAutoscalerCondition',
  {
    type: required(1, enumOf('AbleToScale', 'ScalingActive', 'ScalingLimited'), { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastTransitionTime: always(3, time, { doc: 'When the status last changed.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(5, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);

own.HorizontalPodAutoscalerStatus = struct('autoscaling.v2beta2.HorizontalPodAutoscalerStatus', {
  observedGeneration: pointer(1, int64, { doc: 'Generation of the object that this status is about.' }),
  lastScaleTime: pointer(2, time, { doc: 'When the number of pods was last changed.' }),
  currentReplicas: required(3, int32, { doc: 'Number of pods now.' }),
  desiredReplicas: required(4, int32, { doc: 'Number of pods wanted last.' }),
  currentMetrics: always(5, list(inV2beta2(metricStatus)), { doc: 'Values measured last.' }),
  conditions: always(6, list(own.HorizontalPodAutoscalerCondition), {
    doc: 'Aspects of the state, each with its reason.',
  }),
});

export const horizontalPodAutoscaler = inV2beta2(horizontalPodAutoscalerV2);
export const horizontalPodAutoscalerList = listKind(horizontalPodAutoscaler);
