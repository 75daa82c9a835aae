import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { ServerNamesOptions } from '../../base/config/server-names.options.js';
import { parseListenAddress, type ServiceProxyOptions } from '../../base/config/service-proxy.options.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { ApiConnection, type ApiUser } from '../../nodes/connection/api-connection.js';
import type { PlainServer } from '../../nodes/connection/plain-server.js';
import { Conntrack } from '../../nodes/proxy/conntrack.js';
import { type ConntrackLimits, setConntrackLimits } from '../../nodes/proxy/conntrack-limits.js';
import { ProxyHealth } from '../../nodes/proxy/health/proxy-health.js';
import { kernelTable } from '../../nodes/proxy/nftables/kernel-table.js';
import { NftablesBackend } from '../../nodes/proxy/nftables/nftables-backend.js';
import { PolicyEnforcer } from '../../nodes/proxy/policies/policy-enforcer.js';
import { policyTableName } from '../../nodes/proxy/policies/policy-table.js';
import { ProxyMetrics } from '../../nodes/proxy/proxy-metrics.js';
import { type ProxyNames, proxyNames } from '../../nodes/proxy/proxy-names.js';
import type { ProxyOptions } from '../../nodes/proxy/proxy-options.js';
import { startHealthServer, startMetricsServer } from '../../nodes/proxy/proxy-servers.js';
import { RouteKeeper } from '../../nodes/proxy/routes/route-keeper.js';
import type { Family } from '../../nodes/proxy/rules/family.js';
import { type ProxySource, ServiceProxy } from '../../nodes/proxy/service-proxy.js';
import { UserspaceBackend } from '../../nodes/proxy/userspace/userspace-backend.js';
import { accessOfFile } from './api-access.js';

export interface ProxyToRun {
  readonly options: Readonly<ServiceProxyOptions>;
  readonly serverNames: Readonly<ServerNamesOptions>;
  readonly limits: ConntrackLimits;
  readonly logger: Logger;
}

export interface RunningProxy {
  readonly nodeName: string;
  /** Resolves when the services of the API can be reached for the first time. */
  readonly ready: Promise<void>;
  /** The rules stay: connections continue without a proxy. */
  stop(): Promise<void>;
}

/** Starts the proxy of this machine. @throws StartupError for what can't work */
export async function startProxy({ options, serverNames, limits, logger }: ProxyToRun): Promise<RunningProxy> {
  const proxy = proxyOptions(options);
  const families = await ownFamilies();
  if (options.kubeconfig === undefined) throw new StartupError('give a --kubeconfig');
  const access = await accessOfFile(options.kubeconfig);
  const tables = new Map(families.map((family) => [family, kernelTable(family)]));
  if (proxy.mode === 'nftables') {
    for (const table of tables.values()) {
      await table.exists().catch((error: unknown) => {
        throw new StartupError(
          `rules of the kernel need root and nftables (or give --proxy-mode=userspace): ${errorText(error)}`,
        );
      });
    }
    await setConntrackLimits(limits, logger);
  }
  const metrics = new ProxyMetrics(families);
  // As long as two attempts to write may take.
  const health = new ProxyHealth(systemTimers, 2 * proxy.syncPeriodMs);
  const servers = await startServers(proxy, health, metrics);
  const names = proxyNames(vendorNames(serverNames.vendor, serverNames.compat));
  const connection = new ApiConnection(access, { userAgent: 'plinth-proxy' });
  const shared = { options: proxy, names, families, metrics, health, timers: systemTimers, logger };
  const service = new ServiceProxy({
    ...shared,
    api: connection.own(),
    backend: (source: ProxySource) =>
      proxy.mode === 'nftables'
        ? new NftablesBackend({ ...shared, ...source, tables, conntrack: new Conntrack(logger) })
        : new UserspaceBackend({ ...shared, ...source }),
  });
  const routes = options.nodeRoutes ? routesOf(proxy, families, connection.own(), logger) : undefined;
  const ready = Promise.all([service.start(), routes?.start()]);
  const policies = proxy.networkPolicies ? policyEnforcer(proxy, shared, connection.own()) : undefined;
  policies?.start();
  return {
    nodeName: proxy.nodeName,
    ready: ready.then(() => undefined),
    stop: async () => {
      await Promise.all([service.stop(), routes?.stop(), policies?.stop()]);
      await Promise.all(servers.map((server) => server.stop()));
      connection.stop();
    },
  };
}

function routesOf(
  { nodeName, clusterCidrs: clusterRanges, syncPeriodMs: periodMs }: ProxyOptions,
  families: readonly Family[],
  api: ApiUser,
  logger: Logger,
): RouteKeeper {
  return new RouteKeeper({ api, nodeName, clusterRanges, families, periodMs, timers: systemTimers, logger });
}

function policyEnforcer(
  { nodeName, minSyncPeriodMs, syncPeriodMs }: ProxyOptions,
  shared: {
    readonly names: ProxyNames;
    readonly families: readonly Family[];
    readonly metrics: ProxyMetrics;
    readonly timers: Timers;
    readonly logger: Logger;
  },
  api: ApiUser,
): PolicyEnforcer {
  const { names, families, metrics, timers, logger } = shared;
  const tables = new Map(families.map((family) => [family, kernelTable(family, policyTableName)]));
  const { policiesPath } = names;
  return new PolicyEnforcer({
    ...{ api, nodeName, policiesPath, tables, minSyncPeriodMs, syncPeriodMs },
    ...{ metrics, timers, logger },
  });
}

async function startServers(proxy: ProxyOptions, health: ProxyHealth, metrics: ProxyMetrics): Promise<PlainServer[]> {
  const servers: PlainServer[] = [];
  try {
    if (proxy.healthz !== undefined) servers.push(await startHealthServer(proxy.healthz, health, metrics));
    if (proxy.metrics !== undefined) servers.push(await startMetricsServer(proxy.metrics, metrics, proxy.mode));
    return servers;
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()));
    throw new StartupError(`the servers of the proxy can't listen: ${errorText(error)}`);
  }
}

/** The families of addresses that this machine has. */
async function ownFamilies(): Promise<readonly Family[]> {
  const [interfaces, disabled] = await Promise.all([
    readFile('/proc/net/if_inet6', 'utf8').catch(() => undefined),
    readFile('/proc/sys/net/ipv6/conf/all/disable_ipv6', 'utf8').catch(() => '1'),
  ]);
  return interfaces === undefined || disabled.trim() === '1' ? ['IPv4'] : ['IPv4', 'IPv6'];
}

function proxyOptions(options: Readonly<ServiceProxyOptions>): ProxyOptions {
  const { detectLocalMode, podBridgeInterface, podInterfaceNamePrefix } = options;
  if (detectLocalMode === 'BridgeInterface' && podBridgeInterface === '')
    throw new StartupError('--detect-local-mode=BridgeInterface needs --pod-bridge-interface');
  if (detectLocalMode === 'InterfaceNamePrefix' && podInterfaceNamePrefix === '')
    throw new StartupError('--detect-local-mode=InterfaceNamePrefix needs --pod-interface-name-prefix');
  return {
    nodeName: options.hostnameOverride ?? hostname().toLowerCase(),
    mode: options.proxyMode,
    networkPolicies: options.networkPolicies && options.proxyMode === 'nftables',
    detectLocalMode,
    clusterCidrs: options.clusterCidr,
    podBridgeInterface,
    podInterfaceNamePrefix,
    masqueradeAll: options.masqueradeAll,
    masqueradeBit: options.masqueradeBit,
    nodePortAddresses: options.nodeportAddresses,
    minSyncPeriodMs: options.minSyncPeriodMs,
    syncPeriodMs: options.syncPeriodMs,
    healthz: parseListenAddress(options.healthzBindAddress),
    metrics: parseListenAddress(options.metricsBindAddress),
  };
}
