import {
  podAttachOptions,
  podExecOptions,
  podPortForwardOptions,
} from '../../../objects/apis/core/v1/request-options.types.js';
import type { ConnectSubresource, StreamParameter } from '../../../objects/registry/subresource-definition.js';

const verbs = ['create', 'get'] as const;

const streams: readonly StreamParameter[] = [
  { name: 'container', type: 'string', description: 'Which container; may be missing if the pod has one.' },
  { name: 'stdin', type: 'boolean', description: 'Pass on the input.' },
  { name: 'stdout', type: 'boolean', description: 'Send the output.' },
  { name: 'stderr', type: 'boolean', description: 'Send the output of errors.' },
  { name: 'tty', type: 'boolean', description: 'Use a terminal.' },
];

/** `exec`: runs a command in a container. */
export const podExecPath: ConnectSubresource = {
  type: 'connect',
  name: 'exec',
  target: 'exec',
  body: { kind: podExecOptions.kind, type: podExecOptions },
  verbs,
  parameters: [
    { name: 'command', type: 'string', description: 'The program, then its arguments, one each.' },
    ...streams,
  ],
};

/** `attach`: the streams of the program that a container runs. */
export const podAttachPath: ConnectSubresource = {
  type: 'connect',
  name: 'attach',
  target: 'attach',
  body: { kind: podAttachOptions.kind, type: podAttachOptions },
  verbs,
  parameters: streams,
};

/** `portforward`: connections to ports of the pod. */
export const podPortForwardPath: ConnectSubresource = {
  type: 'connect',
  name: 'portforward',
  target: 'portForward',
  body: { kind: podPortForwardOptions.kind, type: podPortForwardOptions },
  verbs,
  parameters: [
    {
      name: 'ports',
      type: 'integer',
      description: 'Ports of the pod; needed with the WebSocket protocol v4.channel.k8s.io only.',
    },
  ],
};
