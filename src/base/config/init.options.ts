import { Min } from 'class-validator';
import { Check } from './check.js';
import { ControlPlaneOptions, certificateKeyProblem } from './control-plane.options.js';
import { Flag } from './flag.js';
import { podRangesProblem } from './node-ipam.options.js';
import { dryRunFlag } from './shared-flags.js';

/** The phases of `plinth init` in their order. */
export const initPhases = [
  'preflight',
  'certs',
  'kubeconfig',
  'database',
  'cluster-info',
  'control-plane',
  'upload-certs',
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

const folderUsage = 'Default: /etc/plinth for root, ~/.plinth for others.';

/** Options for setting up a control plane on this machine. The flags are named as in kubeadm. */
export class InitOptions extends ControlPlaneOptions {
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

  @Flag({
    name: 'control-plane-endpoint',
    type: 'string',
    unit: 'host[:port]',
    usage: 'Where nodes reach the API, such as the name of a load balancer. Default: the advertised address.',
  })
  @Check('endpoint', endpointProblem)
  readonly controlPlaneEndpoint: string | undefined = undefined;

  @Flag({
    name: 'pod-network-cidr',
    type: 'string',
    unit: 'cidr[,cidr]',
    usage:
      'Range of the addresses of pods, of which each node gets a part, or one of IPv4 and one of IPv6. Unset: nodes get ' +
      'none.',
  })
  @Check('range', podRangesProblem)
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
    name: 'upload-certs',
    type: 'bool',
    usage:
      'Hand over the authorities to further control planes: encrypted, in a Secret that lives for two hours. The key is printed.',
  })
  readonly uploadCerts: boolean = false;

  @Flag({
    name: 'certificate-key',
    type: 'string',
    unit: 'hex',
    secret: true,
    usage: 'Key with which the authorities are encrypted: 64 hexadecimal digits. Default: a new one.',
  })
  @Check<string>('key', certificateKeyProblem)
  readonly certificateKey: string | undefined = undefined;

  @Flag({
    name: 'foreground',
    type: 'bool',
    usage: 'Run the servers in this process, even where systemd could run them.',
  })
  readonly foreground: boolean = false;

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

  @Flag(dryRunFlag)
  readonly dryRun: boolean = false;
}
