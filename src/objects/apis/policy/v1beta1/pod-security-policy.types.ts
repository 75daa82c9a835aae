import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { procMountType, seLinuxOptions } from '../../core/v1/security-context.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const fsType = enumOf(
  '*',
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephFS',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
);
export type FSType = Infer<typeof fsType>;

export const hostPortRange = struct('policy.v1beta1.HostPortRange', {
  min: required(1, int32),
  max: required(2, int32),
});
export type HostPortRange = Infer<typeof hostPortRange>;

export const seLinuxStrategy = enumOf('MustRunAs', 'RunAsAny');
export type SELinuxStrategy = Infer<typeof seLinuxStrategy>;

export const seLinuxStrategyOptions = struct('policy.v1beta1.SELinuxStrategyOptions', {
  rule: required(1, seLinuxStrategy),
  seLinuxOptions: pointer(2, seLinuxOptions, { doc: 'SELinux label.' }),
});
export type SELinuxStrategyOptions = Infer<typeof seLinuxStrategyOptions>;

export const runAsUserStrategy = enumOf('MustRunAs', 'MustRunAsNonRoot', 'RunAsAny');
export type RunAsUserStrategy = Infer<typeof runAsUserStrategy>;

export const idRange = struct('policy.v1beta1.IDRange', {
  min: required(1, int64),
  max: required(2, int64),
});
export type IDRange = Infer<typeof idRange>;

export const runAsUserStrategyOptions = struct('policy.v1beta1.RunAsUserStrategyOptions', {
  rule: required(1, runAsUserStrategy),
  ranges: optional(2, list(idRange)),
});
export type RunAsUserStrategyOptions = Infer<typeof runAsUserStrategyOptions>;

export const runAsGroupStrategy = enumOf('MayRunAs', 'MustRunAs', 'RunAsAny');
export type RunAsGroupStrategy = Infer<typeof runAsGroupStrategy>;

export const runAsGroupStrategyOptions = struct('policy.v1beta1.RunAsGroupStrategyOptions', {
  rule: required(1, runAsGroupStrategy),
  ranges: optional(2, list(idRange)),
});
export type RunAsGroupStrategyOptions = Infer<typeof runAsGroupStrategyOptions>;

export const supplementalGroupsStrategyType = enumOf('MayRunAs', 'MustRunAs', 'RunAsAny');
export type SupplementalGroupsStrategyType = Infer<typeof supplementalGroupsStrategyType>;

export const supplementalGroupsStrategyOptions = struct('policy.v1beta1.SupplementalGroupsStrategyOptions', {
  rule: optional(1, supplementalGroupsStrategyType),
  ranges: optional(2, list(idRange)),
});
export type SupplementalGroupsStrategyOptions = Infer<typeof supplementalGroupsStrategyOptions>;

export const fsGroupStrategyType = enumOf('MayRunAs', 'MustRunAs', 'RunAsAny');
export type FSGroupStrategyType = Infer<typeof fsGroupStrategyType>;

export const fsGroupStrategyOptions = struct('policy.v1beta1.FSGroupStrategyOptions', {
  rule: optional(1, fsGroupStrategyType),
  ranges: optional(2, list(idRange)),
});
export type FSGroupStrategyOptions = Infer<typeof fsGroupStrategyOptions>;

export const allowedHostPath = struct('policy.v1beta1.AllowedHostPath', {
  pathPrefix: optional(1, string),
  readOnly: optional(2, bool, { doc: 'Whether writing is forbidden.' }),
});
export type AllowedHostPath = Infer<typeof allowedHostPath>;

export const allowedFlexVolume = struct('policy.v1beta1.AllowedFlexVolume', {
  driver: required(1, string),
});
export type AllowedFlexVolume = Infer<typeof allowedFlexVolume>;

export const allowedCSIDriver = struct('policy.v1beta1.AllowedCSIDriver', {
  name: required(1, string),
});
export type AllowedCSIDriver = Infer<typeof allowedCSIDriver>;

export const runtimeClassStrategyOptions = struct('policy.v1beta1.RuntimeClassStrategyOptions', {
  allowedRuntimeClassNames: required(1, list(string)),
  defaultRuntimeClassName: pointer(2, string),
});
export type RuntimeClassStrategyOptions = Infer<typeof runtimeClassStrategyOptions>;

export const podSecurityPolicySpec = struct('policy.v1beta1.PodSecurityPolicySpec', {
  privileged: optional(1, bool),
  defaultAddCapabilities: optional(2, list(string)),
  requiredDropCapabilities: optional(3, list(string)),
  allowedCapabilities: optional(4, list(string)),
  volumes: optional(5, list(fsType)),
  hostNetwork: optional(6, bool),
  hostPorts: optional(7, list(hostPortRange)),
  hostPID: optional(8, bool),
  hostIPC: optional(9, bool),
  seLinux: required(10, seLinuxStrategyOptions),
  runAsUser: required(11, runAsUserStrategyOptions, { doc: 'Which users processes may run as.' }),
  runAsGroup: pointer(22, runAsGroupStrategyOptions, { doc: 'Which primary groups processes may run as.' }),
  supplementalGroups: required(12, supplementalGroupsStrategyOptions),
  fsGroup: required(13, fsGroupStrategyOptions),
  readOnlyRootFilesystem: optional(14, bool),
  defaultAllowPrivilegeEscalation: pointer(15, bool),
  allowPrivilegeEscalation: pointer(16, bool),
  allowedHostPaths: optional(17, list(allowedHostPath)),
  allowedFlexVolumes: optional(18, list(allowedFlexVolume)),
  allowedCSIDrivers: optional(23, list(allowedCSIDriver)),
  allowedUnsafeSysctls: optional(19, list(string)),
  forbiddenSysctls: optional(20, list(string)),
  allowedProcMountTypes: optional(21, list(procMountType)),
  runtimeClass: pointer(24, runtimeClassStrategyOptions),
});
export type PodSecurityPolicySpec = Infer<typeof podSecurityPolicySpec>;

export const podSecurityPolicy = kind(
  { group: 'policy', version: 'v1beta1', kind: 'PodSecurityPolicy', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, podSecurityPolicySpec),
  },
  { doc: 'Bounds for the privileges of pods. Kept for old clients.' },
);
export type PodSecurityPolicy = Infer<typeof podSecurityPolicy>;

export const podSecurityPolicyList = listKind(podSecurityPolicy);
export type PodSecurityPolicyList = Infer<typeof podSecurityPolicyList>;
