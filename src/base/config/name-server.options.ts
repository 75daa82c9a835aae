import { isIP } from 'node:net';
import { IsIn, Max, Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseCidr } from './network.js';
import { parseListenAddress } from './service-proxy.options.js';
import { hostnameOverrideFlag, metricsBindAddressFlag } from './shared-flags.js';

const podModes = ['disabled', 'insecure', 'verified'] as const;
const domain = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$/;

function addressesProblem(addresses: readonly string[]): string | undefined {
  return addresses.length > 0 && addresses.every((address) => isIP(address) !== 0) ? undefined : 'must be IP addresses';
}

/** In the place of a range, it stands for the addresses of all nodes of the cluster. */
export const nodesWord = 'nodes';

function clientsProblem(clients: readonly string[]): string | undefined {
  return clients.every((client) => client === nodesWord || parseCidr(client) !== undefined)
    ? undefined
    : `must be ranges such as 10.244.0.0/16, or ${nodesWord}`;
}

/** Reads `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`; undefined for any other string. */
export function parseUpstream(text: string): { readonly address: string; readonly port: number } | undefined {
  return isIP(text) === 0 ? parseListenAddress(text) : { address: text, port: 53 };
}

function listenProblem(text: string): string | undefined {
  return text === '' || parseListenAddress(text) !== undefined
    ? undefined
    : 'must be an IP address and a port, or empty';
}

/** Options of the name server of a cluster (specification 1.9). */
export class NameServerOptions {
  @Flag({ name: 'kubeconfig', type: 'string', unit: 'file', usage: 'API server and credentials of the name server.' })
  readonly kubeconfig: string | undefined = undefined;

  @Flag({
    name: 'bind-address',
    type: 'list',
    unit: 'addresses',
    usage: 'Addresses of this machine at which queries are answered, over UDP and TCP.',
  })
  @Check('addresses', addressesProblem)
  readonly bindAddress: readonly string[] = ['0.0.0.0'];

  @Flag({ name: 'port', type: 'int', unit: 'port', usage: 'Port of the addresses of --bind-address.' })
  @Min(0, { message: 'must be 0 or more' })
  @Max(65_535, { message: 'must not be above 65535' })
  readonly port: number = 53;

  @Flag({ name: 'cluster-domain', type: 'string', unit: 'domain', usage: 'Domain of the names of services and pods.' })
  @Check<string>('domain', (text) => (domain.test(text) ? undefined : 'must be a name such as cluster.local'))
  readonly clusterDomain: string = 'cluster.local';

  @Flag({
    name: 'pod-names',
    type: 'string',
    unit: 'mode',
    values: podModes,
    usage:
      'Names such as 10-244-1-7.default.pod.cluster.local. insecure: all names of this form are answered; ' +
      'verified: only those of existing pods, which the server then watches; disabled: none.',
  })
  @IsIn(podModes, { message: `must be one of ${podModes.join(', ')}` })
  readonly podNames: (typeof podModes)[number] = 'insecure';

  @Flag({ name: 'ttl', type: 'int', unit: 'seconds', usage: 'How long clients may keep answers about the cluster.' })
  @Min(0, { message: 'must be 0 or more' })
  @Max(3600, { message: 'must not be above 3600' })
  readonly ttl: number = 30;

  @Flag({
    name: 'upstream',
    type: 'list',
    unit: 'servers',
    usage: 'Name servers that are asked for all other names. Default: those of --resolv-conf.',
  })
  @Check<readonly string[]>('servers', (servers) =>
    servers.every((text) => parseUpstream(text) !== undefined)
      ? undefined
      : 'must be addresses, with or without a port',
  )
  readonly upstream: readonly string[] = [];

  @Flag({
    name: 'resolv-conf',
    type: 'string',
    unit: 'path',
    usage: 'File that lists the name servers of this machine.',
  })
  readonly resolvConf: string = '/etc/resolv.conf';

  @Flag({
    name: 'cache-ttl',
    type: 'duration',
    usage: 'How long answers of other name servers are kept, if they live as long; 0: not at all.',
  })
  readonly cacheTtlMs: number = 30_000;

  @Flag({
    name: 'allowed-clients',
    type: 'list',
    unit: 'ranges',
    usage:
      'Clients that get answers; nodes stands for the addresses of all nodes, which are watched then. Others get none, ' +
      'so that nobody else asks other servers through this one. Empty: all.',
  })
  @Check('ranges', clientsProblem)
  readonly allowedClients: readonly string[] = [];

  @Flag({
    name: 'client-qps',
    type: 'int',
    unit: 'queries/s',
    usage: 'Queries of one client that are answered each second; others are dropped. 0: no limit.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly clientQps: number = 5_000;

  @Flag({
    name: 'max-concurrent-forwards',
    type: 'int',
    unit: 'queries',
    usage: 'Queries to other name servers at a time; a tenth of them for one client. More are refused.',
  })
  @Min(10, { message: 'must be 10 or more' })
  readonly maxConcurrentForwards: number = 1_000;

  @Flag({
    name: 'service-address',
    type: 'string',
    unit: 'address',
    usage:
      'Publish this server as an endpoint of the service kube-dns with this cluster address, which is made if it does not ' +
      'exist. Empty: publish nothing.',
  })
  @Check<string>('address', (text) => (text === '' || isIP(text) !== 0 ? undefined : 'must be an IP address'))
  readonly serviceAddress: string = '';

  @Flag({
    name: 'advertise-address',
    type: 'string',
    unit: 'address',
    usage:
      'Where the proxies of all nodes reach this server. Default: the first --bind-address, or that of the machine.',
  })
  @Check<string>('address', (text) => (isIP(text) !== 0 ? undefined : 'must be an IP address'))
  readonly advertiseAddress: string | undefined = undefined;

  @Flag(hostnameOverrideFlag)
  readonly hostnameOverride: string | undefined = undefined;

  @Flag({
    name: 'healthz-bind-address',
    type: 'string',
    unit: 'address:port',
    usage: 'Address and port at which /health and /ready are served. Empty: nowhere.',
  })
  @Check('listen', listenProblem)
  readonly healthzBindAddress: string = '127.0.0.1:8181';

  @Flag(metricsBindAddressFlag)
  @Check('listen', listenProblem)
  readonly metricsBindAddress: string = '127.0.0.1:9153';
}
