import { Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { dryRunFlag } from './shared-flags.js';

/** The phases of `plinth join` in their order. */
export const joinPhases = ['preflight', 'discovery', 'certificate', 'kubelet-config', 'kubelet-start'] as const;

const skippablePhases: readonly string[] = ['preflight', 'kubelet-config', 'kubelet-start'];

function phasesProblem(phases: readonly string[]): string | undefined {
  const wrong = phases.find((phase) => !skippablePhases.includes(phase));
  return wrong === undefined ? undefined : `has ${JSON.stringify(wrong)}; it can have ${skippablePhases.join(', ')}`;
}

function pinsProblem(pins: readonly string[]): string | undefined {
  const wrong = pins.find((pin) => !/^sha256:[0-9a-f]{64}$/i.test(pin));
  return wrong === undefined
    ? undefined
    : `has ${JSON.stringify(wrong)}, which is not sha256: and 64 hexadecimal digits`;
}

/** Options for joining this machine to a cluster as a node. The flags are named as in kubeadm. */
export class JoinOptions {
  @Flag({
    name: 'token',
    type: 'string',
    unit: 'token',
    secret: true,
    usage: 'Bootstrap token: --discovery-token and --tls-bootstrap-token in one.',
  })
  readonly token: string | undefined = undefined;

  @Flag({
    name: 'discovery-token',
    type: 'string',
    unit: 'token',
    secret: true,
    usage: 'Token with which the information of the cluster must be signed.',
  })
  readonly discoveryToken: string | undefined = undefined;

  @Flag({
    name: 'tls-bootstrap-token',
    type: 'string',
    unit: 'token',
    secret: true,
    usage: 'Token with which the node asks for its certificate.',
  })
  readonly tlsBootstrapToken: string | undefined = undefined;

  @Flag({
    name: 'discovery-token-ca-cert-hash',
    type: 'list',
    unit: 'sha256:hex',
    usage: "Digest of the public key of the cluster's authority. Any of several will do.",
  })
  @Check('pins', pinsProblem)
  readonly discoveryTokenCaCertHash: readonly string[] = [];

  @Flag({
    name: 'discovery-token-unsafe-skip-ca-verification',
    type: 'bool',
    usage:
      'Trust any authority that somebody with the token has signed: everybody who joined by it can pretend to be the cluster.',
  })
  readonly discoveryTokenUnsafeSkipCaVerification: boolean = false;

  @Flag({
    name: 'discovery-file',
    type: 'string',
    unit: 'file',
    usage:
      'A kubeconfig with the server and the authority of the cluster, in place of HOST:PORT and a token for discovery.',
  })
  readonly discoveryFile: string | undefined = undefined;

  @Flag({ name: 'node-name', type: 'string', unit: 'name', usage: 'Name of the node. Default: that of this machine.' })
  @Check<string>('name', (text) =>
    /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
      ? undefined
      : 'must be a name in lower case such as node-1',
  )
  readonly nodeName: string | undefined = undefined;

  @Flag({
    name: 'cri-socket',
    type: 'string',
    unit: 'endpoint',
    usage: 'Socket of the container runtime.',
  })
  readonly criSocket: string = 'unix:///run/containerd/containerd.sock';

  @Flag({
    name: 'config-dir',
    type: 'string',
    unit: 'folder',
    usage: 'Files of the node are in a folder `node` of this one. Default: /etc/plinth for root, ~/.plinth for others.',
  })
  readonly configDir: string | undefined = undefined;

  @Flag({
    name: 'foreground',
    type: 'bool',
    usage: 'Run the node agent in this process, even where systemd could run it.',
  })
  readonly foreground: boolean = false;

  @Flag({ name: 'timeout', type: 'duration', usage: 'How long to wait for the cluster, and then for the certificate.' })
  @Min(1000, { message: 'must be at least 1s' })
  readonly timeoutMs: number = 300_000;

  @Flag({
    name: 'skip-phases',
    type: 'list',
    values: skippablePhases,
    unit: 'names',
    usage: `Phases to leave out: ${skippablePhases.join(', ')}.`,
  })
  @Check('phases', phasesProblem)
  readonly skipPhases: readonly string[] = [];

  @Flag(dryRunFlag)
  readonly dryRun: boolean = false;
}
