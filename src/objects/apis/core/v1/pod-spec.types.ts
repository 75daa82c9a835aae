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
} from '../../../../base/machinery/schema/index.js';
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

export const evictionResponder = struct(
  'core.v1.EvictionResponder',
  {
    name: required(1, string, { doc: 'Name of the program, with a domain.' }),
    priority: required(2, int32, { nullable: true, doc: 'Place in the order: higher numbers come first.' }),
  },
  { mapType: 'atomic', doc: 'A program that is asked before a pod was evicted.' },
);
export type EvictionResponder = Infer<typeof evictionResponder>;

export const podSpec = struct(
  'core.v1.PodSpec',
  {
    volumes: optional(1, list(volume), {
      ...keyedBy('name'),
      patch: { strategy: 'merge', key: 'name', retainKeys: true },
      doc: 'Directories that containers can mount.',
    }),
    initContainers: optional(20, list(container), {
      ...mergedBy('name'),
      doc: 'Containers that run one after the other before the others start.',
    }),
    containers: required(2, list(container), {
      ...mergedBy('name'),
      doc: 'Containers that run side by side. At least one.',
    }),
    ephemeralContainers: optional(34, list(ephemeralContainer), {
      ...mergedBy('name'),
      doc: 'Containers added to a running pod for looking into it.',
    }),
    restartPolicy: optional(3, restartPolicy, {
      doc: 'When ended containers start again: Always, OnFailure or Never.',
    }),
    terminationGracePeriodSeconds: pointer(4, int64, {
      doc: 'How long containers have to end after the signal, in seconds.',
    }),
    activeDeadlineSeconds: pointer(5, int64, { doc: 'How long the pod may run altogether, in seconds.' }),
    dnsPolicy: optional(6, dnsPolicy, { doc: 'Where the settings for name lookups come from.' }),
    nodeSelector: optional(7, map(string), { mapType: 'atomic', doc: 'Labels that a node must have.' }),
    serviceAccountName: optional(8, string, { doc: 'The account that the pod acts as.' }),
    serviceAccount: optional(9, string, { doc: 'Former name of serviceAccountName.' }),
    automountServiceAccountToken: pointer(21, bool, { doc: 'Whether pods get a token of the account as a file.' }),
    nodeName: optional(10, string, { doc: 'The node the pod runs on. Set by the scheduler, as a rule.' }),
    hostNetwork: optional(11, bool, { doc: 'Use the network of the node.' }),
    hostPID: optional(12, bool, { doc: 'See the processes of the node.' }),
    hostIPC: optional(13, bool, { doc: 'Share interprocess communication with the node.' }),
    shareProcessNamespace: pointer(27, bool, { doc: 'Let containers see the processes of each other.' }),
    securityContext: pointer(14, podSecurityContext, {
      doc: 'Privileges of the whole pod; containers may say otherwise.',
    }),
    imagePullSecrets: optional(15, list(localObjectReference), {
      ...mergedBy('name'),
      doc: 'Secrets with the credentials for pulling images.',
    }),
    hostname: optional(16, string, { doc: "Host name inside of the pod; the pod's name if empty." }),
    subdomain: optional(17, string, { doc: 'Domain that the host name belongs to.' }),
    affinity: pointer(18, affinity, { doc: 'Wishes and demands about where the pod runs.' }),
    schedulerName: optional(19, string, { doc: 'The scheduler that places the pod.' }),
    tolerations: optional(22, list(toleration), { doc: 'Taints of nodes that the pod puts up with.' }),
    hostAliases: optional(23, list(hostAlias), { ...mergedBy('ip'), doc: 'Additional lines for /etc/hosts.' }),
    priorityClassName: optional(24, string, { doc: 'Class that says how important the pod is.' }),
    priority: pointer(25, int32, { doc: 'Importance as a number. Follows from the class.' }),
    dnsConfig: pointer(26, podDNSConfig, { doc: 'Additional settings for name lookups.' }),
    readinessGates: optional(28, list(podReadinessGate), { doc: 'Additional conditions for being ready.' }),
    runtimeClassName: pointer(29, string, { doc: 'Class of the container runtime.' }),
    enableServiceLinks: pointer(30, bool, { doc: 'Whether services show up as environment variables.' }),
    preemptionPolicy: pointer(31, preemptionPolicy, {
      doc: 'Whether less important pods may be removed for this one.',
    }),
    overhead: optional(32, resourceList, { doc: 'What the runtime itself needs beside the containers.' }),
    topologySpreadConstraints: optional(33, list(topologySpreadConstraint), {
      ...mergedBy('topologyKey', 'whenUnsatisfiable'),
      doc: 'How pods of a group are spread over zones or nodes.',
    }),
    setHostnameAsFQDN: pointer(35, bool, { doc: 'Use the full domain name as host name.' }),
    os: pointer(36, podOS, { doc: 'Operating system of the containers.' }),
    hostUsers: pointer(37, bool, { doc: 'Use the user namespace of the node.' }),
    schedulingGates: optional(38, list(podSchedulingGate), {
      ...mergedBy('name'),
      doc: 'As long as there are any, the pod is not placed.',
    }),
    resourceClaims: optional(39, list(podResourceClaim), {
      ...keyedBy('name'),
      patch: { strategy: 'merge', key: 'name', retainKeys: true },
      doc: 'Claims that must be allocated before the pod starts.',
    }),
    resources: pointer(40, resourceRequirements, { doc: 'Resources of all containers together.' }),
    hostnameOverride: pointer(41, string),
    schedulingGroup: pointer(43, podSchedulingGroup, { gate: 'GenericWorkload' }),
    evictionResponders: optional(44, list(evictionResponder), {
      ...mergedBy('name'),
      dropped: true,
      doc: 'Programs that are asked before the pod is evicted.',
    }),
  },
  { doc: 'What a pod runs, and where and how.' },
);
export type PodSpec = Infer<typeof podSpec>;

export const podTemplateSpec = struct(
  'core.v1.PodTemplateSpec',
  {
    metadata: always(1, objectMeta),
    spec: always(2, podSpec),
  },
  { doc: 'Description of pods to be made.' },
);
export type PodTemplateSpec = Infer<typeof podTemplateSpec>;
