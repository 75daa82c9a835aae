import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  int64,
  keyedBy,
  list,
  map,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { affinity, toleration, topologySpreadConstraint } from './affinity.types.js';
import { podConditionType } from './condition-status.types.js';
import { container, ephemeralContainer } from './container.types.js';
import { localObjectReference } from './reference.types.js';
import { resourceList, resourceRequirements } from './resources.types.js';
import { podSecurityContext } from './security-context.types.js';
import { volume } from './volume.types.js';

export const restartPolicy = enumOf('Always', 'Never', 'OnFailure');
export type RestartPolicy = Infer<typeof restartPolicy>;

export const dnsPolicy = enumOf('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None');
export type DNSPolicy = Infer<typeof dnsPolicy>;

export const hostAlias = struct('core.v1.HostAlias', {
  ip: required(1, string),
  hostnames: optional(2, list(string)),
});
export type HostAlias = Infer<typeof hostAlias>;

export const podDNSConfigOption = struct('core.v1.PodDNSConfigOption', {
  name: optional(1, string),
  value: pointer(2, string),
});
export type PodDNSConfigOption = Infer<typeof podDNSConfigOption>;

export const podDNSConfig = struct('core.v1.PodDNSConfig', {
  nameservers: optional(1, list(string)),
  searches: optional(2, list(string)),
  options: optional(3, list(podDNSConfigOption)),
});
export type PodDNSConfig = Infer<typeof podDNSConfig>;

export const podReadinessGate = struct('core.v1.PodReadinessGate', {
  conditionType: required(1, podConditionType),
});
export type PodReadinessGate = Infer<typeof podReadinessGate>;

export const preemptionPolicy = enumOf('Never', 'PreemptLowerPriority');
export type PreemptionPolicy = Infer<typeof preemptionPolicy>;

export const osName = enumOf('linux', 'windows');
export type OSName = Infer<typeof osName>;

export const podOS = struct('core.v1.PodOS', {
  name: required(1, osName),
});
export type PodOS = Infer<typeof podOS>;

export const podSchedulingGate = struct('core.v1.PodSchedulingGate', {
  name: required(1, string),
});
export type PodSchedulingGate = Infer<typeof podSchedulingGate>;

export const podResourceClaim = struct('core.v1.PodResourceClaim', {
  name: required(1, string),
  resourceClaimName: pointer(3, string),
  resourceClaimTemplateName: pointer(4, string),
});
export type PodResourceClaim = Infer<typeof podResourceClaim>;

export const podSchedulingGroup = struct('core.v1.PodSchedulingGroup', {
  podGroupName: pointer(1, string),
});
export type PodSchedulingGroup = Infer<typeof podSchedulingGroup>;

export const podSpec = struct('core.v1.PodSpec', {
  volumes: optional(1, list(volume), {
    ...keyedBy('name'),
    patch: { strategy: 'merge', key: 'name', retainKeys: true },
  }),
  initContainers: optional(20, list(container), mergedBy('name')),
  containers: required(2, list(container), mergedBy('name')),
  ephemeralContainers: optional(34, list(ephemeralContainer), mergedBy('name')),
  restartPolicy: optional(3, restartPolicy),
  terminationGracePeriodSeconds: pointer(4, int64),
  activeDeadlineSeconds: pointer(5, int64),
  dnsPolicy: optional(6, dnsPolicy),
  nodeSelector: optional(7, map(string), { mapType: 'atomic' }),
  serviceAccountName: optional(8, string),
  serviceAccount: optional(9, string),
  automountServiceAccountToken: pointer(21, bool),
  nodeName: optional(10, string),
  hostNetwork: optional(11, bool),
  hostPID: optional(12, bool),
  hostIPC: optional(13, bool),
  shareProcessNamespace: pointer(27, bool),
  securityContext: pointer(14, podSecurityContext),
  imagePullSecrets: optional(15, list(localObjectReference), mergedBy('name')),
  hostname: optional(16, string),
  subdomain: optional(17, string),
  affinity: pointer(18, affinity),
  schedulerName: optional(19, string),
  tolerations: optional(22, list(toleration)),
  hostAliases: optional(23, list(hostAlias), mergedBy('ip')),
  priorityClassName: optional(24, string),
  priority: pointer(25, int32),
  dnsConfig: pointer(26, podDNSConfig),
  readinessGates: optional(28, list(podReadinessGate)),
  runtimeClassName: pointer(29, string),
  enableServiceLinks: pointer(30, bool),
  preemptionPolicy: pointer(31, preemptionPolicy),
  overhead: optional(32, resourceList),
  topologySpreadConstraints: optional(33, list(topologySpreadConstraint), mergedBy('topologyKey', 'whenUnsatisfiable')),
  setHostnameAsFQDN: pointer(35, bool),
  os: pointer(36, podOS),
  hostUsers: pointer(37, bool),
  schedulingGates: optional(38, list(podSchedulingGate), mergedBy('name')),
  resourceClaims: optional(39, list(podResourceClaim), {
    ...keyedBy('name'),
    patch: { strategy: 'merge', key: 'name', retainKeys: true },
  }),
  resources: pointer(40, resourceRequirements),
  hostnameOverride: pointer(41, string),
  schedulingGroup: pointer(43, podSchedulingGroup),
});
export type PodSpec = Infer<typeof podSpec>;

export const podTemplateSpec = struct('core.v1.PodTemplateSpec', {
  metadata: always(1, objectMeta),
  spec: always(2, podSpec),
});
export type PodTemplateSpec = Infer<typeof podTemplateSpec>;
