import { isIP } from 'node:net';
import { IsIn, Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseCidr } from './network.js';
import { hostnameOverrideFlag, metricsBindAddressFlag } from './shared-flags.js';

const modes = ['nftables', 'userspace'] as const;
const localModes = ['ClusterCIDR', 'BridgeInterface', 'InterfaceNamePrefix'] as const;
const name = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
/** Allowed names of network interfaces. The kernel allows more, but rules contain the names in quotes. */
const interfaceName = /^[A-Za-z0-9_.@-]{0,15}$/;

/** Reads `0.0.0.0:10256` or `[::]:10256`; undefined for any other string. */
export function parseListenAddress(text: string): { readonly address: string; readonly port: number } | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? '';
  const port = Number(match?.[3]);
  return isIP(address) !== 0 && port <= 65_535 ? { address, port } : undefined;
}

function listenProblem(text: string): string | undefined {
  return text === '' || parseListenAddress(text) !== undefined
    ? undefined
    : 'must be an IP address and a port, or empty';
}

function clusterProblem(ranges: readonly string[]): string | undefined {
  const families = ranges.map((text) => parseCidr(text)?.family);
  if (families.includes(undefined)) return 'must be ranges such as 10.128.0.0/16';
  return new Set(families).size === families.length ? undefined : 'must be at most one range of each family';
}

function nodePortProblem(ranges: readonly string[]): string | undefined {
  if (ranges.length === 1 && ranges[0] === 'primary') return undefined;
  return ranges.every((text) => parseCidr(text) !== undefined)
    ? undefined
    : 'must be ranges such as 192.0.2.0/24, or primary';
}

/** Options of the proxy for Services on a node (specification 1.9). */
export class ServiceProxyOptions {
  @Flag({ name: 'kubeconfig', type: 'string', unit: 'file', usage: 'API server and credentials of the proxy.' })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({
    name: 'config',
    type: 'string',
    unit: 'file',
    usage: 'File with a KubeProxyConfiguration (v1alpha1). Flags override it.',
  })
  readonly config: string | undefined = undefined;

  @Flag(hostnameOverrideFlag)
  @Check<string>('name', (text) => (name.test(text) ? undefined : 'must be small letters, digits, - and .'))
  readonly hostnameOverride: string | undefined = undefined;

  @Flag({
    name: 'proxy-mode',
    type: 'string',
    unit: 'mode',
    values: modes,
    usage:
      'nftables: rules of the kernel, as root. userspace: connections end in this process, which listens on node ports; for ' +
      'development without root.',
  })
  @IsIn(modes, { message: `must be one of ${modes.join(', ')}` })
  readonly proxyMode: (typeof modes)[number] = 'nftables';

  @Flag({
    name: 'network-policies',
    type: 'bool',
    usage: 'Enforce network policies for the pods of this node, by rules of the kernel. Not in the mode userspace.',
  })
  readonly networkPolicies: boolean = true;

  @Flag({
    name: 'cleanup',
    type: 'bool',
    usage: 'Remove the rules of this proxy from the kernel and end.',
  })
  readonly cleanup: boolean = false;

  @Flag({
    name: 'detect-local-mode',
    type: 'string',
    unit: 'mode',
    values: localModes,
    usage:
      'How packets of pods are recognized: by --cluster-cidr, --pod-bridge-interface or ' +
      '--pod-interface-name-prefix.',
  })
  @IsIn(localModes, { message: `must be one of ${localModes.join(', ')}` })
  readonly detectLocalMode: (typeof localModes)[number] = 'ClusterCIDR';

  @Flag({
    name: 'cluster-cidr',
    type: 'list',
    unit: 'ranges',
    usage:
      'Addresses of pods, at most one range of each family. Packets of others to a cluster address get the ' +
      'address of the node as their source; without a range, no packet counts as one of a pod.',
  })
  @Check('ranges', clusterProblem)
  readonly clusterCidr: readonly string[] = [];

  @Flag({
    name: 'node-routes',
    type: 'bool',
    usage:
      'Keep routes to the pods of other nodes, by the addresses of these nodes, for nodes of one network; and give packets of ' +
      'pods that leave --cluster-cidr, which it needs, the address of this node. As root.',
  })
  @Check<boolean>('routes', (isOn, all) => {
    if (!isOn) return undefined;
    if ((all.clusterCidr as readonly string[]).length === 0) return 'needs --cluster-cidr';
    return all.proxyMode === 'nftables' ? undefined : 'needs --proxy-mode=nftables';
  })
  readonly nodeRoutes: boolean = false;

  @Flag({
    name: 'pod-bridge-interface',
    type: 'string',
    unit: 'name',
    usage: 'Packets that come in by this bridge are those of pods.',
  })
  @Check<string>('interface', (text) => (interfaceName.test(text) ? undefined : 'must be the name of an interface'))
  readonly podBridgeInterface: string = '';

  @Flag({
    name: 'pod-interface-name-prefix',
    type: 'string',
    unit: 'text',
    usage: 'Packets that come in by interfaces whose names begin like this are those of pods.',
  })
  @Check<string>('interface', (text) => (interfaceName.test(text) ? undefined : 'must begin the name of an interface'))
  readonly podInterfaceNamePrefix: string = '';

  @Flag({
    name: 'masquerade-all',
    type: 'bool',
    usage: 'Whether every packet to a cluster address gets the address of the node as its source.',
  })
  readonly masqueradeAll: boolean = false;

  @Flag({
    name: 'masquerade-bit',
    type: 'int',
    unit: 'bit',
    aliases: ['iptables-masquerade-bit'],
    usage:
      'Bit of the mark on packets that get the address of the node as their source: 0 to 31, but not 15, which ' +
      'marks packets to drop.',
  })
  @Min(0, { message: 'must be 0 or more' })
  @Max(31, { message: 'must not be above 31' })
  @Check<number>('bit', (bit) => (bit === 15 ? 'must not be 15, which marks packets that are dropped' : undefined))
  readonly masqueradeBit: number = 14;

  @Flag({
    name: 'nodeport-addresses',
    type: 'list',
    unit: 'ranges',
    usage:
      'Ranges of addresses of this machine on which node ports are open; `primary`: the address of the node. ' +
      'Default: on all but the loopback ones.',
  })
  @Check('ranges', nodePortProblem)
  readonly nodeportAddresses: readonly string[] = [];

  @Flag({
    name: 'min-sync-period',
    type: 'duration',
    aliases: ['iptables-min-sync-period'],
    usage: 'The shortest time between two writes of the rules.',
  })
  readonly minSyncPeriodMs: number = 1_000;

  @Flag({
    name: 'sync-period',
    type: 'duration',
    aliases: ['iptables-sync-period'],
    usage:
      'How often the proxy checks that its rules still exist, and the longest pause before it retries a failed ' +
      'write.',
  })
  @Check<number>('duration', (value) => (value >= 1000 ? undefined : 'must be 1s or more'))
  readonly syncPeriodMs: number = 30_000;

  @Flag({
    name: 'healthz-bind-address',
    type: 'string',
    unit: 'address:port',
    usage: 'Address and port at which /healthz and /livez are served, for load balancers. Empty: nowhere.',
  })
  @Check('listen', listenProblem)
  readonly healthzBindAddress: string = '0.0.0.0:10256';

  @Flag(metricsBindAddressFlag)
  @Check('listen', listenProblem)
  readonly metricsBindAddress: string = '127.0.0.1:10249';
}
