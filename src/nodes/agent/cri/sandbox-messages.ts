import { message, nested, nestedList, scalar, scalars, texts, type WireReader, type Written } from '../grpc/wire.js';

/** States of a sandbox. */
export const sandboxReady = 0;

/** Whose namespaces a container or a sandbox uses. */
export const namespaceModes = { pod: 0, container: 1, node: 2, target: 3 } as const;

export const idMapping = message({
  hostId: scalar(1, 'integer'),
  containerId: scalar(2, 'integer'),
  length: scalar(3, 'integer'),
});

export const namespaceOption = message({
  network: scalar(1, 'integer'),
  pid: scalar(2, 'integer'),
  ipc: scalar(3, 'integer'),
  targetId: scalar(4, 'string'),
});

/** A number that may be missing. */
export const numberValue = message({ value: scalar(1, 'integer') });

export const seLinuxOption = message({
  user: scalar(1, 'string'),
  role: scalar(2, 'string'),
  type: scalar(3, 'string'),
  level: scalar(4, 'string'),
});

/** Kinds of seccomp and AppArmor profiles. */
export const profileTypes = { RuntimeDefault: 0, Unconfined: 1, Localhost: 2 } as const;

export const securityProfile = message({
  profileType: scalar(1, 'integer'),
  localhostRef: scalar(2, 'string'),
});

export const linuxResources = message({
  cpuPeriod: scalar(1, 'integer'),
  cpuQuota: scalar(2, 'integer'),
  cpuShares: scalar(3, 'integer'),
  memoryLimitInBytes: scalar(4, 'integer'),
  oomScoreAdj: scalar(5, 'integer'),
  cpusetCpus: scalar(6, 'string'),
  cpusetMems: scalar(7, 'string'),
  hugepageLimits: nestedList(8, message({ pageSize: scalar(1, 'string'), limit: scalar(2, 'integer') })),
  unified: texts(9),
  memorySwapLimitInBytes: scalar(10, 'integer'),
});
export type LinuxResources = Written<typeof linuxResources>;

const sandboxSecurityContext = message({
  namespaceOptions: nested(1, namespaceOption),
  seLinuxOptions: nested(2, seLinuxOption),
  runAsUser: nested(3, numberValue),
  runAsGroup: nested(8, numberValue),
  readonlyRootfs: scalar(4, 'bool'),
  supplementalGroups: scalars(5, 'integer'),
  supplementalGroupsPolicy: scalar(11, 'integer'),
  privileged: scalar(6, 'bool'),
  seccomp: nested(9, securityProfile),
});

const linuxSandboxConfig = message({
  cgroupParent: scalar(1, 'string'),
  securityContext: nested(2, sandboxSecurityContext),
  sysctls: texts(3),
  overhead: nested(4, linuxResources),
  resources: nested(5, linuxResources),
});

export const sandboxMetadata = message({
  name: scalar(1, 'string'),
  uid: scalar(2, 'string'),
  namespace: scalar(3, 'string'),
  attempt: scalar(4, 'integer'),
});

/** Protocols of a port mapping. */
export const portProtocols: Readonly<Record<string, number>> = { TCP: 0, UDP: 1, SCTP: 2 };

export const portMapping = message({
  protocol: scalar(1, 'integer'),
  containerPort: scalar(2, 'integer'),
  hostPort: scalar(3, 'integer'),
  hostIp: scalar(4, 'string'),
});

export const dnsConfig = message({
  servers: scalars(1, 'string'),
  searches: scalars(2, 'string'),
  options: scalars(3, 'string'),
});
export type DnsConfig = WireReader<typeof dnsConfig>;

export const sandboxConfig = message({
  metadata: nested(1, sandboxMetadata),
  hostname: scalar(2, 'string'),
  logDirectory: scalar(3, 'string'),
  dnsConfig: nested(4, dnsConfig),
  portMappings: nestedList(5, portMapping),
  labels: texts(6),
  annotations: texts(7),
  linux: nested(8, linuxSandboxConfig),
});
export type SandboxConfig = Written<typeof sandboxConfig>;

export const runSandboxRequest = message({
  config: nested(1, sandboxConfig),
  runtimeHandler: scalar(2, 'string'),
});

/** Requests and answers that hold one id: of a sandbox or of a container. */
export const idMessage = message({ id: scalar(1, 'string') });

export const empty = message({});

export const stateFieldOfSandbox = 3;
/**
 * The fields of a list of sandboxes that the agent reads; the others are skipped, since all sandboxes are listed every
 * second.
 */
export const sandbox = message({
  id: scalar(1, 'string'),
  state: scalar(stateFieldOfSandbox, 'integer'),
  labels: texts(5),
});
export type Sandbox = WireReader<typeof sandbox>;

export const listSandboxesRequest = message({
  filter: nested(1, message({ id: scalar(1, 'string'), labelSelector: texts(3) })),
});

export const listSandboxesResponse = message({ items: nestedList(1, sandbox) });

export const sandboxStatus = message({
  id: scalar(1, 'string'),
  metadata: nested(2, sandboxMetadata),
  state: scalar(3, 'integer'),
  createdAt: scalar(4, 'integer'),
  network: nested(
    5,
    message({
      ip: scalar(1, 'string'),
      additionalIps: nestedList(2, message({ ip: scalar(1, 'string') })),
    }),
  ),
  linux: nested(6, message({ namespaces: nested(1, message({ options: nested(2, namespaceOption) })) })),
  labels: texts(7),
  annotations: texts(8),
  runtimeHandler: scalar(9, 'string'),
});
export type SandboxStatus = WireReader<typeof sandboxStatus>;

export const sandboxStatusResponse = message({
  status: nested(1, sandboxStatus),
  info: texts(2),
});
