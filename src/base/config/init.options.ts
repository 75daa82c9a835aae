import { isIP } from 'node:net';
import { Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseCidr } from './network.js';
import { namesProblem } from './pki.options.js';

/** The phases of `plinth init` in their order. */
export const initPhases = [
  'preflight',
  'certs',
  'kubeconfig',
  'database',
  'cluster-info',
  'control-plane',
  'token',
] as const;

/** The `certs` phase can't be skipped: it keeps existing certificates anyway, and all other phases need them. */
const skippablePhases: readonly string[] = initPhases.filter((phase) => phase !== 'certs');

const dayMs = 86_400_000;

function phasesProblem(phases: readonly string[]): string | undefined {
  const wrong = phases.find((phase) => !skippablePhases.includes(phase));
  return wrong === undefined ? undefined : `has ${JSON.stringify(wrong)}; it can have ${skippablePhases.join(', ')}`;
}

function endpointProblem(text: string): string | undefined {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
  return url !== undefined && url.pathname === '/' && url.username === '' && !text.endsWith('/')
    ? undefined
    : 'must be host or host:port';
}

const addressProblem = (text: string) => (isIP(text) === 0 ? 'must be an IP address' : undefined);
const folderUsage = 'Default: /etc/plinth for root, ~/.plinth for others.';

/** Options for setting up a control plane on this machine. The flags are named as in kubeadm. */
export class InitOptions {
  @Flag({
    name: 'config-dir',
    type: 'string',
    unit: 'folder',
    usage: `Folder of certificates, settings and the admin kubeconfig. ${folderUsage}`,
  })
  readonly configDir: string | undefined = undefined;

  @Flag({
    name: 'data-dir',
    type: 'string',
    unit: 'folder',
    usage:
      'Folder of the embedded database, which is used without --database-url. ' +
      'Default: /var/lib/plinth for root, ~/.plinth/data for others.',
  })
  readonly dataDir: string | undefined = undefined;

  @Flag({ name: 'bind-address', type: 'string', unit: 'address', usage: 'Address that the API listens on.' })
  @Check('address', addressProblem)
  readonly bindAddress: string = '0.0.0.0';

  @Flag({ name: 'apiserver-bind-port', type: 'int', unit: 'port', usage: 'Port that the API listens on.' })
  @Check<number>('port', (value) => (value >= 1 && value <= 65535 ? undefined : 'must be between 1 and 65535'))
  readonly apiserverBindPort: number = 6443;

  @Flag({
    name: 'apiserver-advertise-address',
    type: 'string',
    unit: 'address',
    usage:
      "Address at which nodes reach this machine. Default: that of --bind-address, or of the machine's default route.",
  })
  @Check('address', addressProblem)
  readonly apiserverAdvertiseAddress: string | undefined = undefined;

  @Flag({
    name: 'control-plane-endpoint',
    type: 'string',
    unit: 'host[:port]',
    usage: 'Where nodes reach the API, such as the name of a load balancer. Default: the advertised address.',
  })
  @Check('endpoint', endpointProblem)
  readonly controlPlaneEndpoint: string | undefined = undefined;

  @Flag({
    name: 'apiserver-cert-extra-sans',
    type: 'list',
    unit: 'names',
    usage: 'Further DNS names and IP addresses of the serving certificate.',
  })
  @Check('names', namesProblem)
  readonly apiserverCertExtraSans: readonly string[] = [];

  @Flag({
    name: 'pod-network-cidr',
    type: 'string',
    unit: 'cidr',
    usage: 'Range of the addresses of pods, of which each node gets a part. Unset: nodes get none.',
  })
  @Check<string>('range', (text) =>
    parseCidr(text) === undefined ? 'must be a range such as 10.244.0.0/16' : undefined,
  )
  readonly podNetworkCidr: string | undefined = undefined;

  @Flag({
    name: 'cgroup-driver',
    type: 'string',
    values: ['cgroupfs', 'systemd'],
    unit: 'name',
    usage: 'Driver of the container runtimes of nodes, for their settings.',
  })
  @Check<string>('driver', (text) => (/^(cgroupfs|systemd)$/.test(text) ? undefined : 'must be cgroupfs or systemd'))
  readonly cgroupDriver: string = 'cgroupfs';

  @Flag({
    name: 'token-ttl',
    type: 'duration',
    usage: 'How long the token lives with which the first nodes join; 0: until somebody deletes it.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly tokenTtlMs: number = dayMs;

  @Flag({
    name: 'foreground',
    type: 'bool',
    usage: 'Run the servers in this process, even where systemd could run them.',
  })
  readonly foreground: boolean = false;

  @Flag({
    name: 'static-pods',
    type: 'string',
    unit: 'folder',
    usage: 'Write manifests of the servers into this folder, from which a node agent runs them as static pods.',
  })
  readonly staticPods: string | undefined = undefined;

  @Flag({ name: 'image', type: 'string', unit: 'image', usage: 'Image of the containers of --static-pods.' })
  readonly image: string = 'plinth:latest';

  @Flag({ name: 'timeout', type: 'duration', usage: 'How long to wait for the servers.' })
  @Min(1000, { message: 'must be at least 1s' })
  readonly timeoutMs: number = 240_000;

  @Flag({
    name: 'skip-phases',
    type: 'list',
    values: skippablePhases,
    unit: 'names',
    usage: `Phases to leave out: ${skippablePhases.join(', ')}.`,
  })
  @Check('phases', phasesProblem)
  readonly skipPhases: readonly string[] = [];

  @Flag({ name: 'dry-run', type: 'bool', usage: 'Say what would be done, and change nothing.' })
  readonly dryRun: boolean = false;
}
