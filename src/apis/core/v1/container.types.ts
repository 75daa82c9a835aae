import {
  always,
  bool,
  enumOf,
  type Infer,
  inline,
  int32,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { lifecycle, probe } from './probe.types.js';
import { localObjectReference } from './reference.types.js';
import { resourceName, resourceRequirements } from './resources.types.js';
import { securityContext } from './security-context.types.js';
import {
  configMapKeySelector,
  fileKeySelector,
  objectFieldSelector,
  resourceFieldSelector,
  secretKeySelector,
} from './selector.types.js';

export const protocol = enumOf('SCTP', 'TCP', 'UDP');
export type Protocol = Infer<typeof protocol>;

export const pullPolicy = enumOf('Always', 'IfNotPresent', 'Never');
export type PullPolicy = Infer<typeof pullPolicy>;

export const containerPort = struct('core.v1.ContainerPort', {
  name: optional(1, string),
  hostPort: optional(2, int32),
  containerPort: required(3, int32),
  protocol: optional(4, protocol, { default: 'TCP' }),
  hostIP: optional(5, string),
});
export type ContainerPort = Infer<typeof containerPort>;

export const configMapEnvSource = struct('core.v1.ConfigMapEnvSource', {
  localObjectReference: inline(1, localObjectReference),
  optional: pointer(2, bool),
});
export type ConfigMapEnvSource = Infer<typeof configMapEnvSource>;

export const secretEnvSource = struct('core.v1.SecretEnvSource', {
  localObjectReference: inline(1, localObjectReference),
  optional: pointer(2, bool),
});
export type SecretEnvSource = Infer<typeof secretEnvSource>;

export const envFromSource = struct('core.v1.EnvFromSource', {
  prefix: optional(1, string),
  configMapRef: pointer(2, configMapEnvSource),
  secretRef: pointer(3, secretEnvSource),
});
export type EnvFromSource = Infer<typeof envFromSource>;

export const envVarSource = struct('core.v1.EnvVarSource', {
  fieldRef: pointer(1, objectFieldSelector),
  resourceFieldRef: pointer(2, resourceFieldSelector),
  configMapKeyRef: pointer(3, configMapKeySelector),
  secretKeyRef: pointer(4, secretKeySelector),
  fileKeyRef: pointer(5, fileKeySelector),
});
export type EnvVarSource = Infer<typeof envVarSource>;

export const envVar = struct('core.v1.EnvVar', {
  name: required(1, string),
  value: optional(2, string),
  valueFrom: pointer(3, envVarSource),
});
export type EnvVar = Infer<typeof envVar>;

export const resourceResizeRestartPolicy = enumOf('NotRequired', 'RestartContainer');
export type ResourceResizeRestartPolicy = Infer<typeof resourceResizeRestartPolicy>;

export const containerResizePolicy = struct('core.v1.ContainerResizePolicy', {
  resourceName: required(1, resourceName),
  restartPolicy: required(2, resourceResizeRestartPolicy),
});
export type ContainerResizePolicy = Infer<typeof containerResizePolicy>;

export const containerRestartPolicy = enumOf('Always', 'Never', 'OnFailure');
export type ContainerRestartPolicy = Infer<typeof containerRestartPolicy>;

export const containerRestartRuleAction = enumOf('Restart', 'RestartAllContainers');
export type ContainerRestartRuleAction = Infer<typeof containerRestartRuleAction>;

export const containerRestartRuleOnExitCodesOperator = enumOf('In', 'NotIn');
export type ContainerRestartRuleOnExitCodesOperator = Infer<typeof containerRestartRuleOnExitCodesOperator>;

export const containerRestartRuleOnExitCodes = struct('core.v1.ContainerRestartRuleOnExitCodes', {
  operator: optional(1, containerRestartRuleOnExitCodesOperator),
  values: optional(2, list(int32), { listType: 'set' }),
});
export type ContainerRestartRuleOnExitCodes = Infer<typeof containerRestartRuleOnExitCodes>;

export const containerRestartRule = struct('core.v1.ContainerRestartRule', {
  action: optional(1, containerRestartRuleAction),
  exitCodes: pointer(2, containerRestartRuleOnExitCodes),
});
export type ContainerRestartRule = Infer<typeof containerRestartRule>;

export const recursiveReadOnlyMode = enumOf('Disabled', 'Enabled', 'IfPossible');
export type RecursiveReadOnlyMode = Infer<typeof recursiveReadOnlyMode>;

export const mountPropagationMode = enumOf('Bidirectional', 'HostToContainer', 'None');
export type MountPropagationMode = Infer<typeof mountPropagationMode>;

export const volumeMount = struct('core.v1.VolumeMount', {
  name: required(1, string),
  readOnly: optional(2, bool),
  recursiveReadOnly: pointer(7, recursiveReadOnlyMode),
  mountPath: required(3, string),
  subPath: optional(4, string),
  mountPropagation: pointer(5, mountPropagationMode),
  subPathExpr: optional(6, string),
});
export type VolumeMount = Infer<typeof volumeMount>;

export const volumeDevice = struct('core.v1.VolumeDevice', {
  name: required(1, string),
  devicePath: required(2, string),
});
export type VolumeDevice = Infer<typeof volumeDevice>;

export const terminationMessagePolicy = enumOf('FallbackToLogsOnError', 'File');
export type TerminationMessagePolicy = Infer<typeof terminationMessagePolicy>;

export const container = struct('core.v1.Container', {
  name: required(1, string),
  image: optional(2, string),
  command: optional(3, list(string)),
  args: optional(4, list(string)),
  workingDir: optional(5, string),
  ports: optional(6, list(containerPort), mergedBy('containerPort', 'protocol')),
  envFrom: optional(19, list(envFromSource)),
  env: optional(7, list(envVar), mergedBy('name')),
  resources: always(8, resourceRequirements),
  resizePolicy: optional(23, list(containerResizePolicy)),
  restartPolicy: pointer(24, containerRestartPolicy),
  restartPolicyRules: optional(25, list(containerRestartRule)),
  volumeMounts: optional(9, list(volumeMount), mergedBy('mountPath')),
  volumeDevices: optional(21, list(volumeDevice), mergedBy('devicePath')),
  livenessProbe: pointer(10, probe),
  readinessProbe: pointer(11, probe),
  startupProbe: pointer(22, probe),
  lifecycle: pointer(12, lifecycle),
  terminationMessagePath: optional(13, string),
  terminationMessagePolicy: optional(20, terminationMessagePolicy),
  imagePullPolicy: optional(14, pullPolicy),
  securityContext: pointer(15, securityContext),
  stdin: optional(16, bool),
  stdinOnce: optional(17, bool),
  tty: optional(18, bool),
});
export type Container = Infer<typeof container>;

export const ephemeralContainerCommon = struct('core.v1.EphemeralContainerCommon', {
  name: required(1, string),
  image: optional(2, string),
  command: optional(3, list(string)),
  args: optional(4, list(string)),
  workingDir: optional(5, string),
  ports: optional(6, list(containerPort), mergedBy('containerPort', 'protocol')),
  envFrom: optional(19, list(envFromSource)),
  env: optional(7, list(envVar), mergedBy('name')),
  resources: always(8, resourceRequirements),
  resizePolicy: optional(23, list(containerResizePolicy)),
  restartPolicy: pointer(24, containerRestartPolicy),
  restartPolicyRules: optional(25, list(containerRestartRule)),
  volumeMounts: optional(9, list(volumeMount), mergedBy('mountPath')),
  volumeDevices: optional(21, list(volumeDevice), mergedBy('devicePath')),
  livenessProbe: pointer(10, probe),
  readinessProbe: pointer(11, probe),
  startupProbe: pointer(22, probe),
  lifecycle: pointer(12, lifecycle),
  terminationMessagePath: optional(13, string),
  terminationMessagePolicy: optional(20, terminationMessagePolicy),
  imagePullPolicy: optional(14, pullPolicy),
  securityContext: pointer(15, securityContext),
  stdin: optional(16, bool),
  stdinOnce: optional(17, bool),
  tty: optional(18, bool),
});
export type EphemeralContainerCommon = Infer<typeof ephemeralContainerCommon>;

export const ephemeralContainer = struct('core.v1.EphemeralContainer', {
  ephemeralContainerCommon: inline(1, ephemeralContainerCommon),
  targetContainerName: optional(2, string),
});
export type EphemeralContainer = Infer<typeof ephemeralContainer>;
