import {
  bool,
  type Infer,
  int32,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  time,
} from '../../../../base/machinery/schema/index.js';

export const nodeProxyOptions = kind(
  { group: '', version: 'v1', kind: 'NodeProxyOptions' },
  {
    path: optional(1, string),
  },
  { doc: 'Request passed on to a node.' },
);
export type NodeProxyOptions = Infer<typeof nodeProxyOptions>;

export const podAttachOptions = kind(
  { group: '', version: 'v1', kind: 'PodAttachOptions' },
  {
    stdin: optional(1, bool),
    stdout: optional(2, bool),
    stderr: optional(3, bool),
    tty: optional(4, bool),
    container: optional(5, string),
  },
  { doc: 'Attaches to a running container.' },
);
export type PodAttachOptions = Infer<typeof podAttachOptions>;

export const podExecOptions = kind(
  { group: '', version: 'v1', kind: 'PodExecOptions' },
  {
    stdin: optional(1, bool),
    stdout: optional(2, bool),
    stderr: optional(3, bool),
    tty: optional(4, bool),
    container: optional(5, string),
    command: required(6, list(string)),
  },
  { doc: 'Runs a command in a container.' },
);
export type PodExecOptions = Infer<typeof podExecOptions>;

export const podLogOptions = kind(
  { group: '', version: 'v1', kind: 'PodLogOptions' },
  {
    container: optional(1, string),
    follow: optional(2, bool),
    previous: optional(3, bool),
    sinceSeconds: pointer(4, int64),
    sinceTime: pointer(5, time),
    timestamps: optional(6, bool),
    tailLines: pointer(7, int64),
    limitBytes: pointer(8, int64),
    insecureSkipTLSVerifyBackend: optional(9, bool),
    stream: pointer(10, string),
  },
  { doc: 'Which part of a log to read.' },
);
export type PodLogOptions = Infer<typeof podLogOptions>;

export const podPortForwardOptions = kind(
  { group: '', version: 'v1', kind: 'PodPortForwardOptions' },
  {
    ports: optional(1, list(int32)),
  },
  { doc: 'Forwards ports of a pod.' },
);
export type PodPortForwardOptions = Infer<typeof podPortForwardOptions>;

export const podProxyOptions = kind(
  { group: '', version: 'v1', kind: 'PodProxyOptions' },
  {
    path: optional(1, string),
  },
  { doc: 'Request passed on to a pod.' },
);
export type PodProxyOptions = Infer<typeof podProxyOptions>;

export const serviceProxyOptions = kind(
  { group: '', version: 'v1', kind: 'ServiceProxyOptions' },
  {
    path: optional(1, string),
  },
  { doc: 'Request passed on to a service.' },
);
export type ServiceProxyOptions = Infer<typeof serviceProxyOptions>;
