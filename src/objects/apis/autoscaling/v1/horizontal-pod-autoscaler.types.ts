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
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { crossVersionObjectReference } from './metric.types.js';

export const horizontalPodAutoscalerSpec = struct('autoscaling.v1.HorizontalPodAutoscalerSpec', {
  scaleTargetRef: required(1, crossVersionObjectReference, { doc: 'What is scaled.' }),
  minReplicas: pointer(2, int32, { doc: 'Fewest pods.' }),
  maxReplicas: required(3, int32, { doc: 'Most pods.' }),
  targetCPUUtilizationPercentage: pointer(4, int32, { doc: 'Wanted use of the requested processor time, in percent.' }),
});
export type HorizontalPodAutoscalerSpec = Infer<typeof horizontalPodAutoscalerSpec>;

export const horizontalPodAutoscalerStatus = struct('autoscaling.v1.HorizontalPodAutoscalerStatus', {
  observedGeneration: pointer(1, int64, { doc: 'Generation of the object that this status is about.' }),
  lastScaleTime: pointer(2, time, { doc: 'When the number of pods was last changed.' }),
  currentReplicas: required(3, int32, { doc: 'Number of pods now.' }),
  desiredReplicas: required(4, int32, { doc: 'Number of pods wanted last.' }),
  currentCPUUtilizationPercentage: pointer(5, int32, {
    doc: 'Present use of the requested processor time, in percent.',
  }),
});
export type HorizontalPodAutoscalerStatus = Infer<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind(
  { group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler', scope: 'Namespaced' },
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
