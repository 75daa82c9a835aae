import {
  always,
  enumOf,
  type Infer,
  int32,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const topologyConstraint = struct('scheduling.v1alpha3.TopologyConstraint', {
  key: required(1, string),
});
export type TopologyConstraint = Infer<typeof topologyConstraint>;

export const workloadReference = struct('scheduling.v1alpha3.WorkloadReference', {
  workloadName: required(1, string),
  templateName: required(2, string),
});
export type WorkloadReference = Infer<typeof workloadReference>;

export const basicSchedulingPolicy = struct('scheduling.v1alpha3.BasicSchedulingPolicy', {});
export type BasicSchedulingPolicy = Infer<typeof basicSchedulingPolicy>;

export const gangSchedulingPolicy = struct('scheduling.v1alpha3.GangSchedulingPolicy', {
  minCount: required(1, int32),
});
export type GangSchedulingPolicy = Infer<typeof gangSchedulingPolicy>;

export const podGroupSchedulingPolicy = struct('scheduling.v1alpha3.PodGroupSchedulingPolicy', {
  basic: pointer(1, basicSchedulingPolicy),
  gang: pointer(2, gangSchedulingPolicy),
});
export type PodGroupSchedulingPolicy = Infer<typeof podGroupSchedulingPolicy>;

export const podGroupSchedulingConstraints = struct('scheduling.v1alpha3.PodGroupSchedulingConstraints', {
  topology: optional(1, list(topologyConstraint), { listType: 'atomic' }),
});
export type PodGroupSchedulingConstraints = Infer<typeof podGroupSchedulingConstraints>;

export const podGroupResourceClaim = struct('scheduling.v1alpha3.PodGroupResourceClaim', {
  name: required(1, string),
  resourceClaimName: pointer(2, string),
  resourceClaimTemplateName: pointer(3, string),
});
export type PodGroupResourceClaim = Infer<typeof podGroupResourceClaim>;

export const singleDisruptionMode = struct('scheduling.v1alpha3.SingleDisruptionMode', {});
export type SingleDisruptionMode = Infer<typeof singleDisruptionMode>;

export const allDisruptionMode = struct('scheduling.v1alpha3.AllDisruptionMode', {});
export type AllDisruptionMode = Infer<typeof allDisruptionMode>;

export const disruptionMode = struct('scheduling.v1alpha3.DisruptionMode', {
  single: pointer(1, singleDisruptionMode),
  all: pointer(2, allDisruptionMode),
});
export type DisruptionMode = Infer<typeof disruptionMode>;

export const podGroupResourceClaimStatus = struct('scheduling.v1alpha3.PodGroupResourceClaimStatus', {
  name: required(1, string),
  resourceClaimName: pointer(2, string),
});
export type PodGroupResourceClaimStatus = Infer<typeof podGroupResourceClaimStatus>;

export const podGroupSpec = struct('scheduling.v1alpha3.PodGroupSpec', {
  parentCompositePodGroupName: pointer(1, string),
  workloadRef: pointer(2, workloadReference),
  schedulingPolicy: required(3, podGroupSchedulingPolicy),
  schedulingConstraints: pointer(4, podGroupSchedulingConstraints),
  resourceClaims: optional(5, list(podGroupResourceClaim), {
    listType: 'map',
    listKeys: ['name'],
    patch: { strategy: 'merge', key: 'name', retainKeys: true },
  }),
  disruptionMode: pointer(6, disruptionMode),
  priorityClassName: optional(7, string),
  priority: pointer(8, int32),
  preemptionPolicy: pointer(9, enumOf('Never', 'PreemptLowerPriority')),
});
export type PodGroupSpec = Infer<typeof podGroupSpec>;

export const podGroupStatus = struct('scheduling.v1alpha3.PodGroupStatus', {
  conditions: optional(1, list(condition), mergedBy('type')),
  resourceClaimStatuses: optional(2, list(podGroupResourceClaimStatus), {
    listType: 'map',
    listKeys: ['name'],
    patch: { strategy: 'merge', key: 'name', retainKeys: true },
  }),
});
export type PodGroupStatus = Infer<typeof podGroupStatus>;

export const podGroup = kind(
  { group: 'scheduling', version: 'v1alpha3', kind: 'PodGroup', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, podGroupSpec),
    status: always(3, podGroupStatus),
  },
  { doc: 'Pods that are scheduled together.' },
);
export type PodGroup = Infer<typeof podGroup>;

export const podGroupList = listKind(podGroup);
export type PodGroupList = Infer<typeof podGroupList>;
