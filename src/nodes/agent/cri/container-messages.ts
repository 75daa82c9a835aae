import { message, nested, nestedList, scalar, scalars, texts, type WireReader, type Written } from '../grpc/wire.js';
import {
  linuxResources,
  namespaceOption,
  numberValue,
  sandboxConfig,
  securityProfile,
  seLinuxOption,
} from './sandbox-messages.js';

/** States of a container. */
export const containerStates = { created: 0, running: 1, exited: 2, unknown: 3 } as const;

export const imageSpec = message({
  image: scalar(1, 'string'),
  annotations: texts(2),
  userSpecifiedImage: scalar(18, 'string'),
  runtimeHandler: scalar(19, 'string'),
});
export type ImageSpec = Written<typeof imageSpec>;

/** Propagation of mounts. */
export const mountPropagations: Readonly<Record<string, number>> = {
  None: 0,
  HostToContainer: 1,
  Bidirectional: 2,
};

export const mount = message({
  containerPath: scalar(1, 'string'),
  hostPath: scalar(2, 'string'),
  readonly: scalar(3, 'bool'),
  seLinuxRelabel: scalar(4, 'bool'),
  propagation: scalar(5, 'integer'),
  recursiveReadOnly: scalar(8, 'bool'),
  image: nested(9, imageSpec),
  imageSubPath: scalar(10, 'string'),
});
export type Mount = Written<typeof mount>;

export const device = message({
  containerPath: scalar(1, 'string'),
  hostPath: scalar(2, 'string'),
  permissions: scalar(3, 'string'),
});
export type Device = Written<typeof device>;

const capability = message({
  addCapabilities: scalars(1, 'string'),
  dropCapabilities: scalars(2, 'string'),
});

const containerSecurityContext = message({
  capabilities: nested(1, capability),
  privileged: scalar(2, 'bool'),
  namespaceOptions: nested(3, namespaceOption),
  seLinuxOptions: nested(4, seLinuxOption),
  runAsUser: nested(5, numberValue),
  runAsUsername: scalar(6, 'string'),
  readonlyRootfs: scalar(7, 'bool'),
  supplementalGroups: scalars(8, 'integer'),
  noNewPrivs: scalar(11, 'bool'),
  runAsGroup: nested(12, numberValue),
  maskedPaths: scalars(13, 'string'),
  readonlyPaths: scalars(14, 'string'),
  seccomp: nested(15, securityProfile),
  apparmor: nested(16, securityProfile),
  apparmorProfile: scalar(9, 'string'),
  supplementalGroupsPolicy: scalar(17, 'integer'),
});
export type ContainerSecurity = Written<typeof containerSecurityContext>;

export const containerMetadata = message({
  name: scalar(1, 'string'),
  attempt: scalar(2, 'integer'),
});

const environmentEntry = message({ key: scalar(1, 'string'), value: scalar(2, 'bytes') });

export const containerConfig = message({
  metadata: nested(1, containerMetadata),
  image: nested(2, imageSpec),
  command: scalars(3, 'string'),
  args: scalars(4, 'string'),
  workingDir: scalar(5, 'string'),
  envs: nestedList(6, environmentEntry),
  mounts: nestedList(7, mount),
  devices: nestedList(8, device),
  labels: texts(9),
  annotations: texts(10),
  logPath: scalar(11, 'string'),
  stdin: scalar(12, 'bool'),
  stdinOnce: scalar(13, 'bool'),
  tty: scalar(14, 'bool'),
  linux: nested(
    15,
    message({ resources: nested(1, linuxResources), securityContext: nested(2, containerSecurityContext) }),
  ),
  cdiDevices: nestedList(17, message({ name: scalar(1, 'string') })),
  stopSignal: scalar(18, 'integer'),
});
export type ContainerConfig = Written<typeof containerConfig>;

export const createContainerRequest = message({
  podSandboxId: scalar(1, 'string'),
  config: nested(2, containerConfig),
  sandboxConfig: nested(3, sandboxConfig),
});

export const stopContainerRequest = message({ containerId: scalar(1, 'string'), timeout: scalar(2, 'integer') });

export const stateFieldOfContainer = 6;
/**
 * The fields of a list of containers that the agent reads; the others are skipped, since all containers are listed
 * every second.
 */
export const container = message({
  id: scalar(1, 'string'),
  podSandboxId: scalar(2, 'string'),
  image: nested(4, imageSpec),
  imageRef: scalar(5, 'string'),
  state: scalar(stateFieldOfContainer, 'integer'),
  createdAt: scalar(7, 'integer'),
  labels: texts(8),
});
export type Container = WireReader<typeof container>;

export const listContainersRequest = message({
  filter: nested(1, message({ id: scalar(1, 'string'), podSandboxId: scalar(3, 'string'), labelSelector: texts(4) })),
});

export const listContainersResponse = message({ containers: nestedList(1, container) });

export const containerStatus = message({
  id: scalar(1, 'string'),
  metadata: nested(2, containerMetadata),
  state: scalar(3, 'integer'),
  createdAt: scalar(4, 'integer'),
  startedAt: scalar(5, 'integer'),
  finishedAt: scalar(6, 'integer'),
  exitCode: scalar(7, 'integer'),
  image: nested(8, imageSpec),
  imageRef: scalar(9, 'string'),
  reason: scalar(10, 'string'),
  message: scalar(11, 'string'),
  labels: texts(12),
  annotations: texts(13),
  mounts: nestedList(14, mount),
  logPath: scalar(15, 'string'),
  resources: nested(16, message({ linux: nested(1, linuxResources) })),
  imageId: scalar(17, 'string'),
  user: nested(
    18,
    message({
      linux: nested(
        1,
        message({ uid: scalar(1, 'integer'), gid: scalar(2, 'integer'), supplementalGroups: scalars(3, 'integer') }),
      ),
    }),
  ),
});
export type ContainerStatus = WireReader<typeof containerStatus>;

export const containerStatusResponse = message({ status: nested(1, containerStatus), info: texts(2) });

export const updateResourcesRequest = message({
  containerId: scalar(1, 'string'),
  linux: nested(2, linuxResources),
});

export const execSyncRequest = message({
  containerId: scalar(1, 'string'),
  cmd: scalars(2, 'string'),
  timeout: scalar(3, 'integer'),
});
export const execSyncResponse = message({
  stdout: scalar(1, 'bytes'),
  stderr: scalar(2, 'bytes'),
  exitCode: scalar(3, 'integer'),
});
export type ExecResult = WireReader<typeof execSyncResponse>;
/** The same answer, of which only the first 10 KiB of each output are read. */
export const execSyncHead = message({
  stdout: scalar(1, 'head'),
  stderr: scalar(2, 'head'),
  exitCode: scalar(3, 'integer'),
});

export const execRequest = message({
  containerId: scalar(1, 'string'),
  cmd: scalars(2, 'string'),
  tty: scalar(3, 'bool'),
  stdin: scalar(4, 'bool'),
  stdout: scalar(5, 'bool'),
  stderr: scalar(6, 'bool'),
});
export type ExecRequest = Written<typeof execRequest>;

export const attachRequest = message({
  containerId: scalar(1, 'string'),
  stdin: scalar(2, 'bool'),
  tty: scalar(3, 'bool'),
  stdout: scalar(4, 'bool'),
  stderr: scalar(5, 'bool'),
});
export type AttachRequest = Written<typeof attachRequest>;

export const portForwardRequest = message({ podSandboxId: scalar(1, 'string'), port: scalars(2, 'integer') });

export const urlResponse = message({ url: scalar(1, 'string') });
