import {
  always,
  enumOf,
  type Infer,
  int64,
  keyedBy,
  kind,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  quantity,
  required,
  string,
  struct,
  time,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus, podConditionType } from './condition-status.types.js';
import { containerStatus } from './container-status.types.js';
import { podSpec } from './pod-spec.types.js';
import { objectReference } from './reference.types.js';
import { resourceList, resourceRequirements } from './resources.types.js';

export const binding = kind(
  { group: '', version: 'v1', kind: 'Binding', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    target: required(2, objectReference),
  },
);
export type Binding = Infer<typeof binding>;

export const podPhase = enumOf('Failed', 'Pending', 'Running', 'Succeeded', 'Unknown');
export type PodPhase = Infer<typeof podPhase>;

export const podCondition = struct('core.v1.PodCondition', {
  type: required(1, podConditionType),
  observedGeneration: optional(7, int64),
  status: required(2, conditionStatus),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: optional(5, string),
  message: optional(6, string),
});
export type PodCondition = Infer<typeof podCondition>;

export const hostIP = struct('core.v1.HostIP', {
  ip: required(1, string),
});
export type HostIP = Infer<typeof hostIP>;

export const podIP = struct('core.v1.PodIP', {
  ip: required(1, string),
});
export type PodIP = Infer<typeof podIP>;

export const podQOSClass = enumOf('BestEffort', 'Burstable', 'Guaranteed');
export type PodQOSClass = Infer<typeof podQOSClass>;

export const podResizeStatus = enumOf('Deferred', 'InProgress', 'Infeasible');
export type PodResizeStatus = Infer<typeof podResizeStatus>;

export const podResourceClaimStatus = struct('core.v1.PodResourceClaimStatus', {
  name: required(1, string),
  resourceClaimName: pointer(2, string),
});
export type PodResourceClaimStatus = Infer<typeof podResourceClaimStatus>;

export const containerExtendedResourceRequest = struct('core.v1.ContainerExtendedResourceRequest', {
  containerName: required(1, string),
  resourceName: required(2, string),
  requestName: required(3, string),
});
export type ContainerExtendedResourceRequest = Infer<typeof containerExtendedResourceRequest>;

export const podExtendedResourceClaimStatus = struct('core.v1.PodExtendedResourceClaimStatus', {
  requestMappings: required(1, list(containerExtendedResourceRequest)),
  resourceClaimName: required(2, string),
});
export type PodExtendedResourceClaimStatus = Infer<typeof podExtendedResourceClaimStatus>;

export const nodeAllocatableResourceClaimStatus = struct('core.v1.NodeAllocatableResourceClaimStatus', {
  resourceClaimName: required(1, string),
  containers: optional(2, list(string), { listType: 'set' }),
  resources: required(3, map(quantity)),
});
export type NodeAllocatableResourceClaimStatus = Infer<typeof nodeAllocatableResourceClaimStatus>;

export const podStatus = struct('core.v1.PodStatus', {
  observedGeneration: optional(17, int64),
  phase: optional(1, podPhase),
  conditions: optional(2, list(podCondition), mergedBy('type')),
  message: optional(3, string),
  reason: optional(4, string),
  nominatedNodeName: optional(11, string),
  hostIP: optional(5, string),
  hostIPs: optional(16, list(hostIP), { patch: { strategy: 'merge', key: 'ip' } }),
  podIP: optional(6, string),
  podIPs: optional(12, list(podIP), mergedBy('ip')),
  startTime: pointer(7, time),
  initContainerStatuses: optional(10, list(containerStatus)),
  containerStatuses: optional(8, list(containerStatus)),
  qosClass: optional(9, podQOSClass),
  ephemeralContainerStatuses: optional(13, list(containerStatus)),
  resize: optional(14, podResizeStatus),
  resourceClaimStatuses: optional(15, list(podResourceClaimStatus), {
    ...keyedBy('name'),
    patch: { strategy: 'merge', key: 'name', retainKeys: true },
  }),
  extendedResourceClaimStatus: pointer(18, podExtendedResourceClaimStatus),
  allocatedResources: optional(19, resourceList),
  resources: pointer(20, resourceRequirements),
  nodeAllocatableResourceClaimStatuses: optional(21, list(nodeAllocatableResourceClaimStatus)),
});
export type PodStatus = Infer<typeof podStatus>;

export const pod = kind(
  { group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, podSpec),
    status: always(3, podStatus),
  },
);
export type Pod = Infer<typeof pod>;

export const podList = listKind(pod);
export type PodList = Infer<typeof podList>;
