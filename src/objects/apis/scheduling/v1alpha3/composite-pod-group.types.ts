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
import { topologyConstraint, workloadReference } from './pod-group.types.js';

export const compositeBasicSchedulingPolicy = struct('scheduling.v1alpha3.CompositeBasicSchedulingPolicy', {});
export type CompositeBasicSchedulingPolicy = Infer<typeof compositeBasicSchedulingPolicy>;

export const compositeGangSchedulingPolicy = struct('scheduling.v1alpha3.CompositeGangSchedulingPolicy', {
  minGroupCount: required(1, int32),
});
export type CompositeGangSchedulingPolicy = Infer<typeof compositeGangSchedulingPolicy>;

export const compositePodGroupSchedulingPolicy = struct('scheduling.v1alpha3.CompositePodGroupSchedulingPolicy', {
  basic: pointer(1, compositeBasicSchedulingPolicy),
  gang: pointer(2, compositeGangSchedulingPolicy),
});
export type CompositePodGroupSchedulingPolicy = Infer<typeof compositePodGroupSchedulingPolicy>;

export const compositePodGroupSchedulingConstraints = struct(
  'scheduling.v1alpha3.CompositePodGroupSchedulingConstraints',
  {
    topology: optional(1, list(topologyConstraint), { listType: 'atomic' }),
  },
);
export type CompositePodGroupSchedulingConstraints = Infer<typeof compositePodGroupSchedulingConstraints>;

export const singleCompositeDisruptionMode = struct('scheduling.v1alpha3.SingleCompositeDisruptionMode', {});
export type SingleCompositeDisruptionMode = Infer<typeof singleCompositeDisruptionMode>;

export const allCompositeDisruptionMode = struct('scheduling.v1alpha3.AllCompositeDisruptionMode', {});
export type AllCompositeDisruptionMode = Infer<typeof allCompositeDisruptionMode>;

export const compositeDisruptionMode = struct('scheduling.v1alpha3.CompositeDisruptionMode', {
  single: pointer(1, singleCompositeDisruptionMode),
  all: pointer(2, allCompositeDisruptionMode),
});
export type CompositeDisruptionMode = Infer<typeof compositeDisruptionMode>;

export const compositePodGroupSpec = struct('scheduling.v1alpha3.CompositePodGroupSpec', {
  parentCompositePodGroupName: pointer(1, string),
  workloadRef: required(2, workloadReference, { nullable: true }),
  schedulingPolicy: required(3, compositePodGroupSchedulingPolicy),
  schedulingConstraints: pointer(4, compositePodGroupSchedulingConstraints),
  disruptionMode: pointer(5, compositeDisruptionMode),
  priorityClassName: optional(6, string),
  priority: pointer(7, int32),
  preemptionPolicy: pointer(8, enumOf('Never', 'PreemptLowerPriority')),
});
export type CompositePodGroupSpec = Infer<typeof compositePodGroupSpec>;

export const compositePodGroupStatus = struct('scheduling.v1alpha3.CompositePodGroupStatus', {
  conditions: optional(1, list(condition), mergedBy('type')),
});
export type CompositePodGroupStatus = Infer<typeof compositePodGroupStatus>;

export const compositePodGroup = kind(
  { group: 'scheduling', version: 'v1alpha3', kind: 'CompositePodGroup', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, compositePodGroupSpec),
    status: always(3, compositePodGroupStatus),
  },
  { doc: 'Groups of pods that are scheduled together.' },
);
export type CompositePodGroup = Infer<typeof compositePodGroup>;

export const compositePodGroupList = listKind(compositePodGroup);
export type CompositePodGroupList = Infer<typeof compositePodGroupList>;
