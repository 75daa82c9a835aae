import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { taint } from './affinity.types.js';
import { conditionStatus } from './condition-status.types.js';
import { resourceList } from './resources.types.js';

export const configMapNodeConfigSource = struct('core.v1.ConfigMapNodeConfigSource', {
  namespace: required(1, string),
  name: required(2, string),
  uid: optional(3, string),
  resourceVersion: optional(4, string),
  kubeletConfigKey: required(5, string),
});
export type ConfigMapNodeConfigSource = Infer<typeof configMapNodeConfigSource>;

export const nodeConfigSource = struct('core.v1.NodeConfigSource', {
  configMap: pointer(2, configMapNodeConfigSource),
});
export type NodeConfigSource = Infer<typeof nodeConfigSource>;

export const nodePodPreemptionPolicy = struct(
  'core.v1.NodePodPreemptionPolicy',
  {
    disableResizePreemption: optional(1, list(string), {
      listType: 'set',
      doc: 'Kinds of pods whose growth displaces no others.',
    }),
  },
  { doc: 'When pods of a node make room for others.' },
);
export type NodePodPreemptionPolicy = Infer<typeof nodePodPreemptionPolicy>;

export const nodeSpec = struct(
  'core.v1.NodeSpec',
  {
    podCIDR: optional(1, string, { doc: "Addresses for the node's pods." }),
    podCIDRs: optional(7, list(string), {
      listType: 'set',
      patch: { strategy: 'merge' },
      doc: "Addresses for the node's pods, at most one range per family.",
    }),
    providerID: optional(3, string, { doc: 'Identity at the provider of the machine.' }),
    unschedulable: optional(4, bool, { doc: 'Keep new pods away.' }),
    taints: optional(5, list(taint), { doc: 'Taints of the node.' }),
    configSource: pointer(6, nodeConfigSource, { doc: 'No longer used.' }),
    externalID: optional(2, string, { doc: 'No longer used.' }),
    podPreemptionPolicy: pointer(8, nodePodPreemptionPolicy, {
      dropped: true,
      doc: 'For which reasons pods must not make room.',
    }),
  },
  { doc: 'Settings of a node.' },
);
export type NodeSpec = Infer<typeof nodeSpec>;

export const nodePhase = enumOf('Pending', 'Running', 'Terminated');
export type NodePhase = Infer<typeof nodePhase>;

export const nodeConditionType = enumOf('DiskPressure', 'MemoryPressure', 'NetworkUnavailable', 'PIDPressure', 'Ready');
export type NodeConditionType = Infer<typeof nodeConditionType>;

export const nodeCondition = struct(
  'core.v1.NodeCondition',
  {
    type: required(1, nodeConditionType, { doc: 'Name of the aspect.' }),
    status: required(2, conditionStatus, { doc: 'True, False or Unknown.' }),
    lastHeartbeatTime: always(3, time, { doc: 'When the condition was last reported.' }),
    lastTransitionTime: always(4, time, { doc: 'When the status last changed.' }),
    reason: optional(5, string, { doc: 'Short word for programs: why the status is so.' }),
    message: optional(6, string, { doc: 'Text for people: why the status is so.' }),
  },
  { doc: "One aspect of an object's state." },
);
export type NodeCondition = Infer<typeof nodeCondition>;

export const nodeAddressType = enumOf('ExternalDNS', 'ExternalIP', 'Hostname', 'InternalDNS', 'InternalIP');
export type NodeAddressType = Infer<typeof nodeAddressType>;

export const nodeAddress = struct('core.v1.NodeAddress', {
  type: required(1, nodeAddressType),
  address: required(2, string),
});
export type NodeAddress = Infer<typeof nodeAddress>;

export const daemonEndpoint = struct('core.v1.DaemonEndpoint', {
  Port: required(1, int32),
});
export type DaemonEndpoint = Infer<typeof daemonEndpoint>;

export const nodeDaemonEndpoints = struct('core.v1.NodeDaemonEndpoints', {
  kubeletEndpoint: always(1, daemonEndpoint),
});
export type NodeDaemonEndpoints = Infer<typeof nodeDaemonEndpoints>;

export const nodeSwapStatus = struct('core.v1.NodeSwapStatus', {
  capacity: pointer(1, int64),
});
export type NodeSwapStatus = Infer<typeof nodeSwapStatus>;

export const nodeSystemInfo = struct('core.v1.NodeSystemInfo', {
  machineID: required(1, string),
  systemUUID: required(2, string),
  bootID: required(3, string),
  kernelVersion: required(4, string),
  osImage: required(5, string),
  containerRuntimeVersion: required(6, string),
  kubeletVersion: required(7, string),
  kubeProxyVersion: required(8, string),
  operatingSystem: required(9, string),
  architecture: required(10, string),
  swap: pointer(11, nodeSwapStatus),
  runningInUserNamespace: pointer(12, bool, { doc: 'Whether the agent runs in a user namespace.' }),
});
export type NodeSystemInfo = Infer<typeof nodeSystemInfo>;

export const containerImage = struct('core.v1.ContainerImage', {
  names: always(1, list(string)),
  sizeBytes: optional(2, int64),
});
export type ContainerImage = Infer<typeof containerImage>;

export const attachedVolume = struct('core.v1.AttachedVolume', {
  name: required(1, string),
  devicePath: required(2, string),
});
export type AttachedVolume = Infer<typeof attachedVolume>;

export const nodeConfigStatus = struct('core.v1.NodeConfigStatus', {
  assigned: pointer(1, nodeConfigSource),
  active: pointer(2, nodeConfigSource),
  lastKnownGood: pointer(3, nodeConfigSource),
  error: optional(4, string),
});
export type NodeConfigStatus = Infer<typeof nodeConfigStatus>;

export const nodeRuntimeHandlerFeatures = struct('core.v1.NodeRuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: pointer(1, bool),
  userNamespaces: pointer(2, bool),
});
export type NodeRuntimeHandlerFeatures = Infer<typeof nodeRuntimeHandlerFeatures>;

export const nodeRuntimeHandler = struct('core.v1.NodeRuntimeHandler', {
  name: always(1, string),
  features: pointer(2, nodeRuntimeHandlerFeatures),
});
export type NodeRuntimeHandler = Infer<typeof nodeRuntimeHandler>;

export const nodeFeatures = struct('core.v1.NodeFeatures', {
  supplementalGroupsPolicy: pointer(1, bool),
});
export type NodeFeatures = Infer<typeof nodeFeatures>;

export const nodeStatus = struct(
  'core.v1.NodeStatus',
  {
    capacity: optional(1, resourceList, { doc: 'All resources of the machine.' }),
    allocatable: optional(2, resourceList, { doc: 'Resources left for pods.' }),
    phase: optional(3, nodePhase, { doc: 'No longer used.' }),
    conditions: optional(4, list(nodeCondition), {
      ...mergedBy('type'),
      doc: 'Aspects of the state, each with its reason.',
    }),
    addresses: optional(5, list(nodeAddress), { ...mergedBy('type'), doc: 'Addresses of the machine.' }),
    daemonEndpoints: always(6, nodeDaemonEndpoints, { doc: "Ports of the node's services." }),
    nodeInfo: always(7, nodeSystemInfo, { doc: 'Versions and identities.' }),
    images: optional(8, list(containerImage), { doc: 'Images that are there already.' }),
    volumesInUse: optional(9, list(string), { doc: 'Attached volumes that pods use.' }),
    volumesAttached: optional(10, list(attachedVolume), { doc: 'Attached volumes.' }),
    config: pointer(11, nodeConfigStatus, { dropped: true }),
    runtimeHandlers: optional(12, list(nodeRuntimeHandler)),
    features: pointer(13, nodeFeatures),
    declaredFeatures: optional(14, list(string)),
  },
  { doc: 'How a node is doing.' },
);
export type NodeStatus = Infer<typeof nodeStatus>;

export const node = kind(
  { group: '', version: 'v1', kind: 'Node', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, nodeSpec),
    status: always(3, nodeStatus),
  },
  { doc: 'A machine that pods run on.' },
);
export type Node = Infer<typeof node>;

export const nodeList = listKind(node);
export type NodeList = Infer<typeof nodeList>;
