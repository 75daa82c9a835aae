import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  int64,
  keyedBy,
  list,
  mergedBy,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { recursiveReadOnlyMode } from './container.types.js';
import { signal } from './probe.types.js';
import { resourceList, resourceName, resourceRequirements } from './resources.types.js';

export const containerStateWaiting = struct('core.v1.ContainerStateWaiting', {
  reason: optional(1, string),
  message: optional(2, string),
});
export type ContainerStateWaiting = Infer<typeof containerStateWaiting>;

export const containerStateRunning = struct('core.v1.ContainerStateRunning', {
  startedAt: always(1, time),
});
export type ContainerStateRunning = Infer<typeof containerStateRunning>;

export const containerStateTerminated = struct('core.v1.ContainerStateTerminated', {
  exitCode: required(1, int32),
  signal: optional(2, int32),
  reason: optional(3, string),
  message: optional(4, string),
  startedAt: always(5, time),
  finishedAt: always(6, time),
  containerID: optional(7, string),
});
export type ContainerStateTerminated = Infer<typeof containerStateTerminated>;

export const containerState = struct(
  'core.v1.ContainerState',
  {
    waiting: pointer(1, containerStateWaiting, { doc: 'Not started yet.' }),
    running: pointer(2, containerStateRunning, { doc: 'Running.' }),
    terminated: pointer(3, containerStateTerminated, { doc: 'Ended.' }),
  },
  { doc: 'State of a container.' },
);
export type ContainerState = Infer<typeof containerState>;

export const imageVolumeStatus = struct('core.v1.ImageVolumeStatus', {
  imageRef: optional(1, string),
});
export type ImageVolumeStatus = Infer<typeof imageVolumeStatus>;

export const volumeStatus = struct('core.v1.VolumeStatus', {
  image: pointer(1, imageVolumeStatus),
});
export type VolumeStatus = Infer<typeof volumeStatus>;

export const volumeMountStatus = struct('core.v1.VolumeMountStatus', {
  name: required(1, string),
  mountPath: required(2, string),
  readOnly: optional(3, bool, { doc: 'Whether writing is forbidden.' }),
  recursiveReadOnly: pointer(4, recursiveReadOnlyMode),
  volumeStatus: pointer(5, volumeStatus, { dropped: true }),
});
export type VolumeMountStatus = Infer<typeof volumeMountStatus>;

export const linuxContainerUser = struct('core.v1.LinuxContainerUser', {
  uid: required(1, int64),
  gid: required(2, int64),
  supplementalGroups: optional(3, list(int64)),
});
export type LinuxContainerUser = Infer<typeof linuxContainerUser>;

export const containerUser = struct('core.v1.ContainerUser', {
  linux: pointer(1, linuxContainerUser),
});
export type ContainerUser = Infer<typeof containerUser>;

export const resourceHealthStatus = enumOf('Healthy', 'Unhealthy', 'Unknown');
export type ResourceHealthStatus = Infer<typeof resourceHealthStatus>;

export const resourceHealth = struct('core.v1.ResourceHealth', {
  resourceID: required(1, string),
  health: optional(2, resourceHealthStatus),
  message: pointer(6, string),
});
export type ResourceHealth = Infer<typeof resourceHealth>;

export const resourceStatus = struct('core.v1.ResourceStatus', {
  name: required(1, resourceName),
  resources: optional(2, list(resourceHealth), keyedBy('resourceID')),
});
export type ResourceStatus = Infer<typeof resourceStatus>;

export const containerStatus = struct(
  'core.v1.ContainerStatus',
  {
    name: required(1, string, { doc: 'Name of the container.' }),
    state: always(2, containerState, { doc: 'Present state.' }),
    lastState: always(3, containerState, { doc: 'State before the last restart.' }),
    ready: required(4, bool, { doc: 'Whether it takes requests.' }),
    restartCount: required(5, int32, { doc: 'How often it was restarted.' }),
    image: required(6, string, { doc: 'Image that runs.' }),
    imageID: required(7, string, { doc: 'Exact identity of the image.' }),
    containerID: optional(8, string, { doc: 'Identity in the runtime.' }),
    started: pointer(9, bool, { doc: 'Whether the startup check has succeeded.' }),
    allocatedResources: optional(10, resourceList),
    resources: pointer(11, resourceRequirements),
    volumeMounts: optional(12, list(volumeMountStatus), mergedBy('mountPath')),
    user: pointer(13, containerUser),
    allocatedResourcesStatus: optional(14, list(resourceStatus), mergedBy('name')),
    stopSignal: pointer(15, signal),
  },
  { doc: 'How a container is doing.' },
);
export type ContainerStatus = Infer<typeof containerStatus>;
