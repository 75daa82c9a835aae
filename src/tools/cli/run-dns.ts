import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { type NameServerOptions, nodesWord, parseUpstream } from '../../base/config/name-server.options.js';
import { parseListenAddress } from '../../base/config/service-proxy.options.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import type { VendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import { ownAddresses } from '../../nodes/agent/node/machine.js';
import { ApiConnection, type ApiUser } from '../../nodes/connection/api-connection.js';
import { PlainServer } from '../../nodes/connection/plain-server.js';
import { ClusterWatches } from '../../nodes/dns/cluster-watches.js';
import { DnsMetrics } from '../../nodes/dns/dns-metrics.js';
import { DnsPublication, dnsServiceName } from '../../nodes/dns/dns-publication.js';
import { DnsServer } from '../../nodes/dns/dns-server.js';
import type { UpstreamServer } from '../../nodes/dns/forward/exchange.js';
import { Forwarder } from '../../nodes/dns/forward/forwarder.js';
import { ClusterNames } from '../../nodes/dns/records/cluster-names.js';
import { NodeAddresses } from '../../nodes/dns/server/node-addresses.js';
import { QueryHandler } from '../../nodes/dns/server/query-handler.js';

export interface DnsToRun {
  readonly options: Readonly<NameServerOptions>;
  readonly access: ApiAccess;
  readonly names: VendorNames;
  readonly logger: Logger;
}

export interface RunningDns {
  /** The addresses on which it listens, all with the same port. */
  readonly port: number;
  /** Resolves when all names of the cluster are known, and the server is published if that is configured. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** Starts the name server. @throws StartupError for settings that can't work */
export async function startDns({ options, access, names, logger }: DnsToRun): Promise<RunningDns> {
  const upstreams = await upstreamsOf(options, logger);
  const metrics = new DnsMetrics();
  const connection = new ApiConnection(access, { userAgent: 'plinth-dns' });
  const serviceLabel = `${names.labelPrefix}/service-name`;
  const clusterNames = new ClusterNames(serviceLabel);
  const shared = { timers: systemTimers, logger };
  const slicesGroup = `/apis/discovery.${names.suffix}/v1`;
  const api = connection.own();
  const nodes = options.allowedClients.includes(nodesWord) ? new NodeAddresses() : undefined;
  const follower = new ClusterWatches({
    ...{ ...shared, api, nodes, names: clusterNames },
    slicesPath: `${slicesGroup}/endpointslices`,
    watchesPods: options.podNames === 'verified',
  });
  const { maxConcurrentForwards: mostAtOnce, cacheTtlMs: cacheMs } = options;
  const forwarder = new Forwarder({
    options: { upstreams, cacheMs, mostAtOnce, mostOfClient: Math.floor(mostAtOnce / 10) },
    ...{ metrics, timers: systemTimers, random: Math.random },
  });
  const handler = new QueryHandler({
    ...{ ...shared, names: clusterNames, forwarder, metrics, random: Math.random },
    isReady: () => follower.isReady,
    zone: {
      domain: options.clusterDomain,
      ttl: options.ttl,
      podMode: options.podNames,
      ownService: `${names.systemNamespace}/${dnsServiceName}`,
    },
  });
  const { bindAddress: addresses, port, clientQps: queriesPerSecond } = options;
  const clients = options.allowedClients.filter((each) => each !== nodesWord);
  const server = new DnsServer({ addresses, port, clients, nodes, queriesPerSecond }, handler, metrics, systemTimers);
  const pages: PlainServer[] = [];
  try {
    await server.start();
    pages.push(...(await startPages(options, metrics, () => follower.isReady)));
  } catch (error) {
    await server.stop();
    throw new StartupError(`the name server can't listen: ${errorText(error)}`);
  }
  const publication = await publicationOf(options, api, names, {
    slicesGroup,
    serviceLabel,
    logger,
    port: server.port,
  });
  return {
    port: server.port,
    ready: follower.start().then(() => publication?.start()),
    stop: async () => {
      await publication?.stop();
      await server.stop();
      forwarder.stop();
      await Promise.all([follower.stop(), ...pages.map((page) => page.stop())]);
      connection.stop();
    },
  };
}

async function publicationOf(
  options: Readonly<NameServerOptions>,
  api: ApiUser,
  { systemNamespace: namespace, labelPrefix }: VendorNames,
  parts: { slicesGroup: string; serviceLabel: string; logger: Logger; port: number },
): Promise<DnsPublication | undefined> {
  const { serviceAddress, bindAddress, advertiseAddress, hostnameOverride } = options;
  if (serviceAddress === '') return undefined;
  const given = bindAddress.find((address) => address !== '0.0.0.0' && address !== '::');
  const address = advertiseAddress ?? given ?? (await ownAddresses())[0] ?? '127.0.0.1';
  return new DnsPublication({
    ...{ ...parts, api, namespace, serviceAddress, address, timers: systemTimers },
    managedByLabel: `endpointslice.${labelPrefix}/managed-by`,
    nodeName: hostnameOverride ?? hostname().toLowerCase(),
  });
}

async function startPages(
  { healthzBindAddress, metricsBindAddress }: Readonly<NameServerOptions>,
  metrics: DnsMetrics,
  isReady: () => boolean,
): Promise<PlainServer[]> {
  const started: PlainServer[] = [];
  const missing = { status: 404, body: '404 page not found\n' };
  const healthz = parseListenAddress(healthzBindAddress);
  const measured = parseListenAddress(metricsBindAddress);
  try {
    if (healthz !== undefined) {
      const answer = (path: string) => {
        if (path === '/health') return { status: 200, body: 'OK' };
        if (path !== '/ready') return missing;
        return isReady() ? { status: 200, body: 'OK' } : { status: 503, body: 'kubernetes' };
      };
      started.push(await PlainServer.start(healthz, answer));
    }
    if (measured !== undefined) {
      const { registry } = metrics;
      const answer = async (path: string) =>
        path === '/metrics'
          ? { status: 200, headers: { 'content-type': registry.contentType }, body: await registry.metrics() }
          : missing;
      started.push(await PlainServer.start(measured, answer));
    }
    return started;
  } catch (error) {
    await Promise.all(started.map((page) => page.stop()));
    throw error;
  }
}

/** The name servers for all other names. */
async function upstreamsOf(options: Readonly<NameServerOptions>, logger: Logger): Promise<readonly UpstreamServer[]> {
  const { upstream, resolvConf, bindAddress, port } = options;
  const texts = upstream.length > 0 ? upstream : nameServersIn(await readFile(resolvConf, 'utf8').catch(() => ''));
  const found = texts.flatMap((text) => parseUpstream(text) ?? []);
  // Queries that the server forwards to itself would never end.
  const others = found.filter((server) => server.port !== port || !bindAddress.includes(server.address));
  if (others.length === 0) logger.warn('there are no name servers for names outside of the cluster', { resolvConf });
  return others;
}

/** The name servers of a resolv.conf. */
function nameServersIn(text: string): string[] {
  const words = text.split('\n').map((line) => line.trim().split(/\s+/));
  return words.flatMap(([key, address = '']) => (key === 'nameserver' && isIP(address) !== 0 ? [address] : []));
}
