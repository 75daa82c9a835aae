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
} from '../../../../base/machinery/schema/index.js';
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
} from './source-selector.types.js';

export const protocol = enumOf('SCTP', 'TCP', 'UDP');
export type Protocol = Infer<typeof protocol>;

export const pullPolicy = enumOf('Always', 'IfNotPresent', 'Never');
export type PullPolicy = Infer<typeof pullPolicy>;

export const containerPort = struct(
  'core.v1.ContainerPort',
  {
    name: optional(1, string, { doc: 'Name that services may use instead of the number.' }),
    hostPort: optional(2, int32, { doc: 'Port of the node that leads here.' }),
    containerPort: required(3, int32, { doc: 'Port number in the pod.' }),
    protocol: optional(4, protocol, { default: 'TCP', doc: 'TCP, UDP or SCTP.' }),
    hostIP: optional(5, string, { doc: 'Address of the node for hostPort.' }),
  },
  { doc: 'A port of a container.' },
);
export type ContainerPort = Infer<typeof containerPort>;

export const configMapEnvSource = struct('core.v1.ConfigMapEnvSource', {
  localObjectReference: inline(1, localObjectReference),
  optional: pointer(2, bool, { doc: 'Whether it may be missing.' }),
});
export type ConfigMapEnvSource = Infer<typeof configMapEnvSource>;

export const secretEnvSource = struct('core.v1.SecretEnvSource', {
  localObjectReference: inline(1, localObjectReference),
  optional: pointer(2, bool, { doc: 'Whether it may be missing.' }),
});
export type SecretEnvSource = Infer<typeof secretEnvSource>;

export const envFromSource = struct(
  'core.v1.EnvFromSource',
  {
    prefix: optional(1, string, { doc: 'Put before every name.' }),
    configMapRef: pointer(2, configMapEnvSource, { doc: 'A config map.' }),
    secretRef: pointer(3, secretEnvSource, { doc: 'A secret.' }),
  },
  { doc: 'A source whose entries all become variables.' },
);
export type EnvFromSource = Infer<typeof envFromSource>;

export const envVarSource = struct(
  'core.v1.EnvVarSource',
  {
    fieldRef: pointer(1, objectFieldSelector, { doc: 'A field of the pod.' }),
    resourceFieldRef: pointer(2, resourceFieldSelector, { doc: 'A request or limit of a container.' }),
    configMapKeyRef: pointer(3, configMapKeySelector, { doc: 'An entry of a config map.' }),
    secretKeyRef: pointer(4, secretKeySelector, { doc: 'An entry of a secret.' }),
    fileKeyRef: pointer(5, fileKeySelector),
  },
  { doc: 'Where the value of a variable comes from.' },
);
export type EnvVarSource = Infer<typeof envVarSource>;

export const envVar = struct(
  'core.v1.EnvVar',
  {
    name: required(1, string, { doc: 'Name of the variable.' }),
    value: optional(2, string, { doc: 'Text of the variable; $(OTHER) is replaced.' }),
    valueFrom: pointer(3, envVarSource, { doc: 'Where the value comes from instead.' }),
  },
  { doc: 'An environment variable.' },
);
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

export const volumeMount = struct(
  'core.v1.VolumeMount',
  {
    name: required(1, string, { doc: 'Name of the volume.' }),
    readOnly: optional(2, bool, { doc: 'Whether writing is forbidden.' }),
    recursiveReadOnly: pointer(7, recursiveReadOnlyMode, { doc: 'Whether mounts below are read-only too.' }),
    mountPath: required(3, string, { doc: 'Path in the container.' }),
    subPath: optional(4, string, { doc: 'Directory of the volume to mount instead of its root.' }),
    mountPropagation: pointer(5, mountPropagationMode, { doc: 'Whether later mounts are passed on.' }),
    subPathExpr: optional(6, string, { doc: 'The same with variables replaced.' }),
    bindMountOptions: optional(8, list(string), { listType: 'set', dropped: true, doc: 'Options of the mount.' }),
  },
  { doc: 'Where a volume appears in a container.' },
);
export type VolumeMount = Infer<typeof volumeMount>;

export const volumeDevice = struct('core.v1.VolumeDevice', {
  name: required(1, string),
  devicePath: required(2, string),
});
export type VolumeDevice = Infer<typeof volumeDevice>;

export const terminationMessagePolicy = enumOf('FallbackToLogsOnError', 'File');
export type TerminationMessagePolicy = Infer<typeof terminationMessagePolicy>;

export const container = struct(
  'core.v1.Container',
  {
    name: required(1, string, { doc: 'Unique within the pod.' }),
    image: optional(2, string, { doc: 'Image to run.' }),
    command: optional(3, list(string), { doc: "Program to run instead of the image's own." }),
    args: optional(4, list(string), { doc: 'Arguments of the program.' }),
    workingDir: optional(5, string, { doc: 'Directory to start in.' }),
    ports: optional(6, list(containerPort), {
      ...mergedBy('containerPort', 'protocol'),
      doc: 'Ports that the container listens on.',
    }),
    envFrom: optional(19, list(envFromSource), { doc: 'Sources whose entries all become environment variables.' }),
    env: optional(7, list(envVar), { ...mergedBy('name'), doc: 'Environment variables.' }),
    resources: always(8, resourceRequirements, { doc: 'Resources that the container needs and may use.' }),
    resizePolicy: optional(23, list(containerResizePolicy), { doc: 'Whether changed resources need a restart.' }),
    restartPolicy: pointer(24, containerRestartPolicy, {
      doc: 'When this container starts again, if other than the pod says.',
    }),
    restartPolicyRules: optional(25, list(containerRestartRule), { doc: 'Exceptions of the restart policy.' }),
    volumeMounts: optional(9, list(volumeMount), {
      ...mergedBy('mountPath'),
      doc: 'Where volumes appear in the container.',
    }),
    volumeDevices: optional(21, list(volumeDevice), {
      ...mergedBy('devicePath'),
      doc: 'Where block devices appear in the container.',
    }),
    livenessProbe: pointer(10, probe, { doc: 'Check that restarts the container when it fails.' }),
    readinessProbe: pointer(11, probe, { doc: 'Check that decides whether the container gets requests.' }),
    startupProbe: pointer(22, probe, { doc: 'Check that must succeed once before the others begin.' }),
    lifecycle: pointer(12, lifecycle, { doc: 'What to do after the start and before the end.' }),
    terminationMessagePath: optional(13, string, { doc: 'File that the container leaves its last words in.' }),
    terminationMessagePolicy: optional(20, terminationMessagePolicy, { doc: 'Where the last words come from.' }),
    imagePullPolicy: optional(14, pullPolicy, { doc: 'Always, IfNotPresent or Never.' }),
    securityContext: pointer(15, securityContext, { doc: 'Privileges of the container.' }),
    stdin: optional(16, bool, { doc: 'Keep standard input open.' }),
    stdinOnce: optional(17, bool, { doc: 'Close standard input when the first client leaves.' }),
    tty: optional(18, bool, { doc: 'Give the container a terminal.' }),
  },
  { doc: 'One program in a pod.' },
);
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
