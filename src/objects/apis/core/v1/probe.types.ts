import {
  always,
  enumOf,
  type Infer,
  inline,
  int32,
  int64,
  intOrString,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const execAction = struct('core.v1.ExecAction', {
  command: optional(1, list(string), { doc: 'Command and arguments, without a shell.' }),
});
export type ExecAction = Infer<typeof execAction>;

export const uriScheme = enumOf('HTTP', 'HTTPS');
export type URIScheme = Infer<typeof uriScheme>;

export const httpHeader = struct('core.v1.HTTPHeader', {
  name: required(1, string),
  value: required(2, string),
});
export type HTTPHeader = Infer<typeof httpHeader>;

export const httpGetAction = struct('core.v1.HTTPGetAction', {
  path: optional(1, string, { doc: 'Path of the request.' }),
  port: required(2, intOrString, { doc: 'Port or its name.' }),
  host: optional(3, string, { doc: 'Host; the pod if empty.' }),
  scheme: optional(4, uriScheme, { doc: 'HTTP or HTTPS.' }),
  httpHeaders: optional(5, list(httpHeader), { doc: 'Additional headers.' }),
  protocol: pointer(6, enumOf('HTTP1', 'HTTP2'), { dropped: true, doc: 'Version of HTTP.' }),
});
export type HTTPGetAction = Infer<typeof httpGetAction>;

export const tcpSocketAction = struct('core.v1.TCPSocketAction', {
  port: required(1, intOrString, { doc: 'Port or its name.' }),
  host: optional(2, string, { doc: 'Host; the pod if empty.' }),
});
export type TCPSocketAction = Infer<typeof tcpSocketAction>;

export const grpcAction = struct('core.v1.GRPCAction', {
  port: required(1, int32),
  service: always(2, string, { nullable: true, default: '' }),
  mode: pointer(3, enumOf('Plaintext', 'TLS'), { dropped: true, doc: 'Whether the connection is encrypted.' }),
});
export type GRPCAction = Infer<typeof grpcAction>;

export const probeHandler = struct('core.v1.ProbeHandler', {
  exec: pointer(1, execAction, { doc: 'Runs a command in the container.' }),
  httpGet: pointer(2, httpGetAction, { doc: 'Sends an HTTP request.' }),
  tcpSocket: pointer(3, tcpSocketAction, { doc: 'Opens a TCP connection.' }),
  grpc: pointer(4, grpcAction, { doc: 'Asks the gRPC health service.' }),
});
export type ProbeHandler = Infer<typeof probeHandler>;

export const probe = struct(
  'core.v1.Probe',
  {
    handler: inline(1, probeHandler),
    initialDelaySeconds: optional(2, int32, { doc: 'Seconds after the start before the first check.' }),
    timeoutSeconds: optional(3, int32, { doc: 'Seconds that one check may take.' }),
    periodSeconds: optional(4, int32, { doc: 'Seconds from check to check.' }),
    successThreshold: optional(5, int32, { doc: 'Successes in a row that count as one.' }),
    failureThreshold: optional(6, int32, { doc: 'Failures in a row that count as one.' }),
    terminationGracePeriodSeconds: pointer(7, int64, { doc: 'Time to end after a failure, in seconds.' }),
  },
  { doc: 'A check of a container.' },
);
export type Probe = Infer<typeof probe>;

export const sleepAction = struct('core.v1.SleepAction', {
  seconds: required(1, int64),
});
export type SleepAction = Infer<typeof sleepAction>;

export const lifecycleHandler = struct('core.v1.LifecycleHandler', {
  exec: pointer(1, execAction, { doc: 'Runs a command in the container.' }),
  httpGet: pointer(2, httpGetAction, { doc: 'Sends an HTTP request.' }),
  tcpSocket: pointer(3, tcpSocketAction, { doc: 'Does nothing any more.' }),
  sleep: pointer(4, sleepAction, { doc: 'Waits.' }),
});
export type LifecycleHandler = Infer<typeof lifecycleHandler>;

export const signal = enumOf(
  'SIGABRT',
  'SIGALRM',
  'SIGBUS',
  'SIGCHLD',
  'SIGCLD',
  'SIGCONT',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGIO',
  'SIGIOT',
  'SIGKILL',
  'SIGPIPE',
  'SIGPOLL',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGRTMAX',
  'SIGRTMAX-1',
  'SIGRTMAX-10',
  'SIGRTMAX-11',
  'SIGRTMAX-12',
  'SIGRTMAX-13',
  'SIGRTMAX-14',
  'SIGRTMAX-2',
  'SIGRTMAX-3',
  'SIGRTMAX-4',
  'SIGRTMAX-5',
  'SIGRTMAX-6',
  'SIGRTMAX-7',
  'SIGRTMAX-8',
  'SIGRTMAX-9',
  'SIGRTMIN',
  'SIGRTMIN+1',
  'SIGRTMIN+10',
  'SIGRTMIN+11',
  'SIGRTMIN+12',
  'SIGRTMIN+13',
  'SIGRTMIN+14',
  'SIGRTMIN+15',
  'SIGRTMIN+2',
  'SIGRTMIN+3',
  'SIGRTMIN+4',
  'SIGRTMIN+5',
  'SIGRTMIN+6',
  'SIGRTMIN+7',
  'SIGRTMIN+8',
  'SIGRTMIN+9',
  'SIGSEGV',
  'SIGSTKFLT',
  'SIGSTOP',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGWINCH',
  'SIGXCPU',
  'SIGXFSZ',
);
export type Signal = Infer<typeof signal>;

export const lifecycle = struct(
  'core.v1.Lifecycle',
  {
    postStart: pointer(1, lifecycleHandler, { doc: 'Right after the start.' }),
    preStop: pointer(2, lifecycleHandler, { doc: 'Before the signal to end.' }),
    stopSignal: pointer(3, signal, { gate: 'ContainerStopSignals' }),
  },
  { doc: 'What happens around the life of a container.' },
);
export type Lifecycle = Infer<typeof lifecycle>;
