import {
  always,
  enumOf,
  type Infer,
  int32,
  keyedBy,
  kind,
  lazy,
  list,
  optional,
  pointer,
  required,
  type StructType,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import {
  compositeDisruptionMode,
  compositePodGroupSchedulingConstraints,
  compositePodGroupSchedulingPolicy,
} from './composite-pod-group.types.js';
import {
  disruptionMode,
  podGroupResourceClaim,
  podGroupSchedulingConstraints,
  podGroupSchedulingPolicy,
} from './pod-group.types.js';

export const typedLocalObjectReference = struct('scheduling.v1alpha3.TypedLocalObjectReference', {
  apiGroup: optional(1, string),
  kind: required(2, string),
  name: required(3, string),
});
export type TypedLocalObjectReference = Infer<typeof typedLocalObjectReference>;

export const podGroupTemplate = struct('scheduling.v1alpha3.PodGroupTemplate', {
  name: required(1, string),
  schedulingPolicy: required(2, podGroupSchedulingPolicy),
  schedulingConstraints: always(3, podGroupSchedulingConstraints, { nullable: true }),
  resourceClaims: optional(4, list(podGroupResourceClaim), {
    listType: 'map',
    listKeys: ['name'],
    patch: { strategy: 'merge', key: 'name', retainKeys: true },
  }),
  disruptionMode: pointer(5, disruptionMode),
  priorityClassName: optional(6, string),
  priority: pointer(7, int32),
  preemptionPolicy: pointer(8, enumOf('Never', 'PreemptLowerPriority')),
});
export type PodGroupTemplate = Infer<typeof podGroupTemplate>;

export interface CompositePodGroupTemplate {
  name: string;
  schedulingPolicy: Infer<typeof compositePodGroupSchedulingPolicy>;
  schedulingConstraints?: Infer<typeof compositePodGroupSchedulingConstraints>;
  disruptionMode?: Infer<typeof compositeDisruptionMode>;
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
  podGroupTemplates?: PodGroupTemplate[];
  compositePodGroupTemplates?: CompositePodGroupTemplate[];
}

export const compositePodGroupTemplate: StructType<CompositePodGroupTemplate> = struct(
  'scheduling.v1alpha3.CompositePodGroupTemplate',
  {
    name: required(1, string),
    schedulingPolicy: required(2, compositePodGroupSchedulingPolicy),
    schedulingConstraints: pointer(3, compositePodGroupSchedulingConstraints),
    disruptionMode: pointer(4, compositeDisruptionMode),
    priorityClassName: optional(5, string),
    priority: pointer(6, int32),
    preemptionPolicy: pointer(7, enumOf('Never', 'PreemptLowerPriority')),
    podGroupTemplates: optional(8, list(podGroupTemplate), keyedBy('name')),
    compositePodGroupTemplates: optional(
      9,
      list(lazy<CompositePodGroupTemplate>(() => compositePodGroupTemplate)),
      keyedBy('name'),
    ),
  },
);

export const workloadSpec = struct('scheduling.v1alpha3.WorkloadSpec', {
  controllerRef: pointer(1, typedLocalObjectReference),
  podGroupTemplates: always(2, list(podGroupTemplate), keyedBy('name')),
  compositePodGroupTemplates: optional(3, list(compositePodGroupTemplate), keyedBy('name')),
});
export type WorkloadSpec = Infer<typeof workloadSpec>;

export const workload = kind(
  { group: 'scheduling', version: 'v1alpha3', kind: 'Workload', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, workloadSpec),
  },
  { doc: 'Templates of the groups of pods that one workload has.' },
);
export type Workload = Infer<typeof workload>;

export const workloadList = listKind(workload);
export type WorkloadList = Infer<typeof workloadList>;
