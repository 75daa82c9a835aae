import {
  always,
  enumOf,
  type Infer,
  int64,
  keyedBy,
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
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { conditionStatus, podConditionType } from './condition-status.types.js';
import { containerStatus } from './container-status.types.js';
import { podSpec } from './pod-spec.types.js';
import { objectReference } from './reference.types.js';
import { resourceList, resourceRequirements } from './resources.types.js';
import { podVolumeHealth } from './volume-health.types.js';

export const binding = kind(
  { group: '', version: 'v1', kind: 'Binding', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    target: required(2, objectReference, { doc: 'The node.' }),
  },
  { doc: 'Puts a pod on a node.' },
);
export type Binding = Infer<typeof binding>;

export const podPhase = enumOf('Failed', 'Pending', 'Running', 'Succeeded', 'Unknown');
export type PodPhase = Infer<typeof podPhase>;

export const podCondition = struct(
  'core.v1.PodCondition',
  {
    type: required(1, podConditionType, { doc: 'Name of the aspect.' }),
    observedGeneration: optional(7, int64, { doc: 'Generation of the object that this status is about.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastProbeTime: always(3, time, { doc: 'When the condition was last checked.' }),
    lastTransitionTime: always(4, time, { doc: 'When the status last changed.' }),
    reason: optional(5, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(6, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
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

export const nodeAllocatableMappedResources = struct(
  'core.v1.NodeAllocatableMappedResources',
  {
    name: required(1, string, { doc: 'Name of the resource.' }),
    quantity: required(2, quantity, { nullable: true, doc: 'Amount.' }),
  },
  { doc: 'What devices take of a resource of the node.' },
);
export type NodeAllocatableMappedResources = Infer<typeof nodeAllocatableMappedResources>;

export const nodeAllocatableOverheadResources = struct(
  'core.v1.NodeAllocatableOverheadResources',
  {
    name: required(1, string, { doc: 'Name of the resource.' }),
    perPod: pointer(2, quantity, { doc: 'Amount for the pod.' }),
    perContainer: pointer(3, quantity, { doc: 'Amount for each container.' }),
  },
  { doc: 'What using devices takes in addition.' },
);
export type NodeAllocatableOverheadResources = Infer<typeof nodeAllocatableOverheadResources>;

export const nodeAllocatableResourceClaimStatus = struct('core.v1.NodeAllocatableResourceClaimStatus', {
  resourceClaimName: required(1, string),
  containers: optional(2, list(string), { listType: 'set' }),
  mapping: optional(4, list(nodeAllocatableMappedResources), {
    ...mergedBy('name'),
    doc: 'What the devices take of the resources of the node.',
  }),
  overhead: optional(5, list(nodeAllocatableOverheadResources), {
    ...mergedBy('name'),
    doc: 'What using the devices takes in addition.',
  }),
});
export type NodeAllocatableResourceClaimStatus = Infer<typeof nodeAllocatableResourceClaimStatus>;

export const podStatus = struct(
  'core.v1.PodStatus',
  {
    observedGeneration: optional(17, int64, { doc: 'Generation of the object that this status is about.' }),
    phase: optional(1, podPhase, { doc: 'Pending, Running, Succeeded, Failed or Unknown.' }),
    conditions: optional(2, list(podCondition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
    message: optional(3, string, { doc: 'Text for people: why the pod is in this state.' }),
    reason: optional(4, string, { doc: 'Short word for programs: why the pod is in this state.' }),
    nominatedNodeName: optional(11, string, { doc: 'Node where room is being made for the pod.' }),
    hostIP: optional(5, string, { doc: 'Address of the node.' }),
    hostIPs: optional(16, list(hostIP), {
      listType: 'atomic',
      patch: { strategy: 'merge', key: 'ip' },
      doc: 'All addresses of the node.',
    }),
    podIP: optional(6, string, { doc: 'Address of the pod.' }),
    podIPs: optional(12, list(podIP), { ...mergedBy('ip'), doc: 'All addresses of the pod, at most one per family.' }),
    startTime: pointer(7, time, { doc: 'When the node took on the pod.' }),
    initContainerStatuses: optional(10, list(containerStatus), { doc: 'States of the init containers.' }),
    containerStatuses: optional(8, list(containerStatus), { doc: 'States of the containers.' }),
    qosClass: optional(9, podQOSClass, { doc: 'Class of service: Guaranteed, Burstable or BestEffort.' }),
    ephemeralContainerStatuses: optional(13, list(containerStatus), { doc: 'States of the ephemeral containers.' }),
    resize: optional(14, podResizeStatus),
    resourceClaimStatuses: optional(15, list(podResourceClaimStatus), {
      ...keyedBy('name'),
      patch: { strategy: 'merge', key: 'name', retainKeys: true },
    }),
    extendedResourceClaimStatus: pointer(18, podExtendedResourceClaimStatus),
    allocatedResources: optional(19, resourceList),
    resources: pointer(20, resourceRequirements),
    nodeAllocatableResourceClaimStatuses: optional(21, list(nodeAllocatableResourceClaimStatus), {
      ...mergedBy('resourceClaimName'),
      dropped: true,
    }),
    volumeHealth: optional(22, list(podVolumeHealth), {
      ...keyedBy('name'),
      dropped: true,
      doc: 'Volumes with which something is wrong.',
    }),
  },
  { doc: 'How a pod is doing.' },
);
export type PodStatus = Infer<typeof podStatus>;

export const pod = kind(
  { group: '', version: 'v1', kind: 'Pod', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, podSpec),
    status: always(3, podStatus),
  },
  { doc: 'Containers that run together on one node.' },
);
export type Pod = Infer<typeof pod>;

export const podList = listKind(pod);
export type PodList = Infer<typeof podList>;
