import {
  always,
  type Infer,
  int32,
  int64,
  kind,
  pointer,
  required,
  struct,
  time,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { crossVersionObjectReference } from './metric.types.js';

export const horizontalPodAutoscalerSpec = struct('autoscaling.v1.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: required(1, crossVersionObjectReference),
  minReplicas: pointer(2, int32),
  maxReplicas: required(3, int32),
  targetCPUUtilizationPercentage: pointer(4, int32),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof horizontalPodAutoscalerSpec>;

export const horizontalPodAutoscalerStatus = struct('autoscaling.v1.HorizontalPodAutoscalerStatus', {
  observedGeneration: pointer(1, int64),
  lastScaleTime: pointer(2, time),
  currentReplicas: required(3, int32),
  desiredReplicas: required(4, int32),
  currentCPUUtilizationPercentage: pointer(5, int32),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind(
  { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, horizontalPodAutoscalerSpec),
    status: always(3, horizontalPodAutoscalerStatus),
  },
);
export type HorizontalPodAutoscaler = Infer<typeof horizontalPodAutoscaler>;

export const horizontalPodAutoscalerList = listKind(horizontalPodAutoscaler);
export type HorizontalPodAutoscalerList = Infer<typeof horizontalPodAutoscalerList>;
