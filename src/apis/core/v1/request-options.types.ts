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
} from '../../../machinery/schema/index.js';

export const nodeProxyOptions = kind(
  { group: '', version: 'v1', kind: 'NodeProxyOptions' },
  {
    path: optional(1, string),
  },
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
);
export type PodLogOptions = Infer<typeof podLogOptions>;

export const podPortForwardOptions = kind(
  { group: '', version: 'v1', kind: 'PodPortForwardOptions' },
  {
    ports: optional(1, list(int32)),
  },
);
export type PodPortForwardOptions = Infer<typeof podPortForwardOptions>;

export const podProxyOptions = kind(
  { group: '', version: 'v1', kind: 'PodProxyOptions' },
  {
    path: optional(1, string),
  },
);
export type PodProxyOptions = Infer<typeof podProxyOptions>;

export const serviceProxyOptions = kind(
  { group: '', version: 'v1', kind: 'ServiceProxyOptions' },
  {
    path: optional(1, string),
  },
);
export type ServiceProxyOptions = Infer<typeof serviceProxyOptions>;
