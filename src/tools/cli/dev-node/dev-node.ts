import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { NameServerOptions, nodesWord } from '../../../base/config/name-server.options.js';
import { addressAt } from '../../../base/config/network.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { ProxyConntrackOptions } from '../../../base/config/proxy-conntrack.options.js';
import { ServerNamesOptions } from '../../../base/config/server-names.options.js';
import type { ServerOptions } from '../../../base/config/server-options.js';
import { ServiceProxyOptions } from '../../../base/config/service-proxy.options.js';
import { firstServiceRange } from '../../../base/config/service-range.js';
import { systemClock } from '../../../base/machinery/clock.js';
import type { Running } from '../../../base/machinery/lifecycle.js';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import type { Logger } from '../../../base/observability/logger.js';
import { fixedAccess } from '../../../base/outgoing/api-access.js';
import { nodeCommandGroups } from '../commands/node-command-options.js';
import { formatKubeconfig, localUrl } from '../kubeconfig.js';
import { keepFile, OwnFiles } from '../own-files.js';
import { ensurePair, type Pki } from '../pki/pki.js';
import { startAgent } from '../run-agent.js';
import { startDns } from '../run-dns.js';
import { startProxy } from '../run-proxy.js';
import { PrivateContainerd } from './private-containerd.js';
import { endContainers, removeTraces } from './remove-traces.js';

export interface DevNodeDependencies {
  readonly options: ServerOptions;
  /** The data folder. */
  readonly directory: string;
  readonly pkiDirectory: string;
  /** The authority with which clients verify the server's certificate. */
  readonly authority: string;
  readonly pki: Pki;
  /** All addresses of pods. */
  readonly clusterCidrs: readonly string[];
  /** The address of this machine. */
  readonly address: string;
  readonly pluginFolder: string;
  readonly pauseImage: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** What was started, in order: everything is ended from its end, also when a later part does not start. */
  readonly started: Running[];
}

export interface DevNode {
  readonly name: string;
  /** The socket of the runtime. */
  readonly endpoint: string;
  /** The cluster address at which pods ask for names. */
  readonly nameServer: string;
  /** Resolves when the node is registered, and services and names are reached. */
  readonly ready: Promise<unknown>;
}

const bridge = 'plinth0';
const dnsPort = 10_053;
/** Offset in the range of services of the address for names. */
const nameServerOffset = 10n;
const quiet = ['--healthz-bind-address=', '--metrics-bind-address='];
/** A machine of a developer is often rather full: what is meant for servers would end all pods. */
const evictionHard = 'memory.available<100Mi,nodefs.available<1%';

/** Makes this machine a node of its own server: a private containerd, agent, proxy and name server. */
export async function startDevNode(dependencies: DevNodeDependencies): Promise<DevNode> {
  const { options, directory, pluginFolder, pauseImage, signal, logger, started } = dependencies;
  const folder = join(directory, 'node');
  const name = hostname().toLowerCase();
  const cgroup = `/plinth-${options.secureServing.securePort}`;
  makeFolder(folder, 0o711);
  started.push({ stop: () => removeTraces({ folder, bridge, cgroup }, logger) });
  const containerd = await PrivateContainerd.start({
    folder: join(folder, 'containerd'),
    pluginFolder,
    pauseImage,
    signal,
  });
  const { endpoint } = containerd;
  started.push(containerd);
  started.push({ stop: () => endContainers(endpoint, logger) });
  const range = firstServiceRange(options.cluster.serviceClusterIpRange);
  const nameServer = range === undefined ? '' : addressAt(range, nameServerOffset);
  const parts: Parts = { ...dependencies, folder, name, cgroup, endpoint, nameServer };
  const proxy = await startProxy({ ...(await proxyOptions(parts)), logger });
  started.push(proxy);
  const agent = await startAgent({
    options: await agentOptions(parts),
    nodeName: name,
    addressesFolder: join(folder, 'addresses'),
    ...{ logger, signal },
  });
  started.push(agent);
  const dns = await startDnsOf(parts);
  started.push(dns);
  return { name, endpoint, nameServer, ready: Promise.all([agent.registered, proxy.ready, dns.ready]) };
}

interface Parts extends DevNodeDependencies {
  readonly folder: string;
  readonly name: string;
  readonly cgroup: string;
  readonly endpoint: string;
  readonly nameServer: string;
}

function namesFlags({ options }: Parts): string[] {
  return [`--vendor=${options.cluster.vendor}`, `--compat=${options.cluster.compat}`];
}

/** The kubeconfig of a part of the node, with a certificate of its own. */
async function kubeconfigOf(parts: Parts, file: string, commonName: string, organization?: string): Promise<string> {
  const { folder, pkiDirectory, pki, authority, options, logger } = parts;
  const issuer = { certificate: pki.authority, privateKey: await readFile(pki.authorityKeyFile, 'utf8') };
  const request = {
    commonName,
    ...(organization === undefined ? {} : { organization }),
    usage: 'client',
    validDays: 365,
  } as const;
  const { pair } = await ensurePair({ directory: pkiDirectory, clock: systemClock }, file, request, issuer);
  const { bindAddress, securePort } = options.secureServing;
  const text = formatKubeconfig({ server: localUrl(bindAddress, securePort), authority, client: pair });
  await keepFile(new OwnFiles(folder), `${file}.kubeconfig`, text, logger);
  return join(folder, `${file}.kubeconfig`);
}

async function agentOptions(parts: Parts) {
  const { folder, name, address, cgroup, endpoint, nameServer, pki } = parts;
  const kubeconfig = await kubeconfigOf(parts, 'kubelet', `system:node:${name}`, 'system:nodes');
  const argv = [
    ...namesFlags(parts),
    `--kubeconfig=${kubeconfig}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--container-runtime-endpoint=${endpoint}`,
    `--root-dir=${join(folder, 'kubelet')}`,
    `--pod-logs-dir=${join(folder, 'logs')}`,
    `--cgroup-root=${cgroup}`,
    '--fail-swap-on=false',
    `--eviction-hard=${evictionHard}`,
    `--cni-conf-dir=${join(folder, 'containerd', 'cni')}`,
    `--cni-bridge=${bridge}`,
    `--cluster-dns=${nameServer}`,
    '--cluster-domain=cluster.local',
    '--anonymous-auth=false',
    `--client-ca-file=${pki.authorityFile}`,
    '--authentication-token-webhook',
    '--authorization-mode=Webhook',
    '--healthz-port=0',
    '--kube-api-qps=50',
    '--kube-api-burst=100',
  ];
  return parseOptions({ groups: nodeCommandGroups, defaults: {}, argv, environment: {} });
}

const proxyGroups = {
  serviceProxy: ServiceProxyOptions,
  limits: ProxyConntrackOptions,
  serverNames: ServerNamesOptions,
} as const;

async function proxyOptions(parts: Parts) {
  const argv = [
    ...namesFlags(parts),
    ...quiet,
    `--kubeconfig=${await kubeconfigOf(parts, 'kube-proxy', 'system:kube-proxy')}`,
    `--hostname-override=${parts.name}`,
    `--cluster-cidr=${parts.clusterCidrs.join(',')}`,
    '--node-routes',
    // The limits of the machine for connections stay as they are.
    ...['--conntrack-max-per-core=0', '--conntrack-min=0'],
    ...['--conntrack-tcp-timeout-established=0', '--conntrack-tcp-timeout-close-wait=0'],
  ];
  const {
    serviceProxy: options,
    limits,
    serverNames,
  } = parseOptions({
    ...{ groups: proxyGroups, defaults: {}, argv, environment: {} },
  });
  return { options, limits, serverNames };
}

async function startDnsOf({
  options: { secureServing, cluster },
  address,
  nameServer,
  clusterCidrs,
  name,
  authority,
  pki,
  logger,
}: Parts) {
  const own = `${address}/${address.includes(':') ? 128 : 32}`;
  const argv = [
    ...quiet,
    `--bind-address=${address}`,
    `--port=${dnsPort}`,
    `--hostname-override=${name}`,
    `--service-address=${nameServer}`,
    `--allowed-clients=${[...clusterCidrs, own, nodesWord].join(',')}`,
  ];
  const { nameServer: options } = parseOptions({
    ...{ groups: { nameServer: NameServerOptions }, defaults: {}, argv, environment: {} },
  });
  const { certificate: cert, privateKey: key } = pki.admin;
  const tls = { ca: authority, cert, key, serverName: undefined, insecureSkipVerify: false };
  return startDns({
    ...{ options, names: vendorNames(cluster.vendor, cluster.compat), logger },
    access: fixedAccess(localUrl(secureServing.bindAddress, secureServing.securePort), tls),
  });
}
