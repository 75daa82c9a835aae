import {
  type Infer,
  int32,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { topologyConstraint } from './pod-group.types.js';

export const workloadPodGroupBasicSchedulingPolicy = struct(
  'scheduling.v1alpha3.WorkloadPodGroupBasicSchedulingPolicy',
  {},
);
export type WorkloadPodGroupBasicSchedulingPolicy = Infer<typeof workloadPodGroupBasicSchedulingPolicy>;

export const workloadPodGroupGangSchedulingPolicy = struct('scheduling.v1alpha3.WorkloadPodGroupGangSchedulingPolicy', {
  minCount: pointer(1, int32),
});
export type WorkloadPodGroupGangSchedulingPolicy = Infer<typeof workloadPodGroupGangSchedulingPolicy>;

export const workloadPodGroupSchedulingPolicy = struct('scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy', {
  basic: pointer(1, workloadPodGroupBasicSchedulingPolicy),
  gang: pointer(2, workloadPodGroupGangSchedulingPolicy),
});
export type WorkloadPodGroupSchedulingPolicy = Infer<typeof workloadPodGroupSchedulingPolicy>;

export const workloadPodGroupSchedulingConstraints = struct(
  'scheduling.v1alpha3.WorkloadPodGroupSchedulingConstraints',
  {
    topology: optional(1, list(topologyConstraint), { listType: 'atomic' }),
  },
);
export type WorkloadPodGroupSchedulingConstraints = Infer<typeof workloadPodGroupSchedulingConstraints>;

export const workloadPodGroupSingleDisruptionMode = struct(
  'scheduling.v1alpha3.WorkloadPodGroupSingleDisruptionMode',
  {},
);
export type WorkloadPodGroupSingleDisruptionMode = Infer<typeof workloadPodGroupSingleDisruptionMode>;

export const workloadPodGroupAllDisruptionMode = struct('scheduling.v1alpha3.WorkloadPodGroupAllDisruptionMode', {});
export type WorkloadPodGroupAllDisruptionMode = Infer<typeof workloadPodGroupAllDisruptionMode>;

export const workloadPodGroupDisruptionMode = struct('scheduling.v1alpha3.WorkloadPodGroupDisruptionMode', {
  single: pointer(1, workloadPodGroupSingleDisruptionMode),
  all: pointer(2, workloadPodGroupAllDisruptionMode),
});
export type WorkloadPodGroupDisruptionMode = Infer<typeof workloadPodGroupDisruptionMode>;

export const workloadPodGroupResourceClaim = struct('scheduling.v1alpha3.WorkloadPodGroupResourceClaim', {
  name: required(1, string),
  resourceClaimName: pointer(2, string),
  resourceClaimTemplateName: pointer(3, string),
});
export type WorkloadPodGroupResourceClaim = Infer<typeof workloadPodGroupResourceClaim>;
