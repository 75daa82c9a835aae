import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { AgentApiOptions } from '../../base/config/agent-api.options.js';
import { parseFlagDuration } from '../../base/config/flag-duration.js';
import { systemClock } from '../../base/machinery/clock.js';
import { RateLimiter } from '../../base/machinery/rate-limiter.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { quantityMilliValue, quantityValue } from '../../base/machinery/values/quantity.js';
import { type VendorNames, vendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ApiAccess } from '../../base/outgoing/api-access.js';
import type { AgentOptions, AgentServerSettings } from '../../nodes/agent/agent-options.js';
import { agentKinds } from '../../nodes/agent/api-kinds.js';
import { parseCpuSet } from '../../nodes/agent/cpus/cpu-set.js';
import { CriRuntime } from '../../nodes/agent/cri/cri-runtime.js';
import { readAmount, readThreshold, type Threshold } from '../../nodes/agent/housekeeping/eviction.js';
import { readMachine } from '../../nodes/agent/node/machine.js';
import { keptCertificate } from '../../nodes/agent/node/node-certificates.js';
import { NodeAgent } from '../../nodes/agent/node-agent.js';
import { isMachineStopping } from '../../nodes/agent/shutdown/machine-state.js';
import { type ShutdownGroup, twoGroups } from '../../nodes/agent/shutdown/shutdown-groups.js';
import { ShutdownWatch } from '../../nodes/agent/shutdown/shutdown-watch.js';
import { ApiConnection } from '../../nodes/connection/api-connection.js';
import { jsonBodies, jsonType } from '../../nodes/connection/bodies.js';
import { ProtobufBodies } from '../../nodes/connection/protobuf-bodies.js';
import { agentConfiguration } from './agent-configuration.js';
import type { NodeCommandOptions } from './commands/node-command-options.js';
import { accessOfNode } from './node-access.js';
import { issueCertificate } from './pki/issue-certificate.js';
import { nodeServerRequest } from './pki/node-pki.js';
import { readTaint } from './read-taint.js';
import { renewNodeCertificates } from './renew-node-certificates.js';
import { servingPurpose } from './serving-purpose.js';

export interface AgentToRun {
  readonly options: NodeCommandOptions;
  readonly nodeName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Where the network plugin records addresses in use; default: where it does by itself. */
  readonly addressesFolder?: string;
}

export interface RunningAgent {
  /** Resolves when the API knows the node. */
  readonly registered: Promise<void>;
  /** How long the stop may take for pods to end. */
  readonly shutdownMs: number;
  /** Containers keep running, unless the machine shuts down and pods have time to end. */
  stop(): Promise<void>;
}

/** The upstream release whose node agent this one corresponds to. */
const agentVersion = 'v1.37.2';

/** Starts the agent of this machine. @throws StartupError for settings that can't work */
export async function startAgent({
  options,
  nodeName,
  logger,
  signal,
  addressesFolder,
}: AgentToRun): Promise<RunningAgent> {
  const { agentApi, agentNode, agentPods, cluster } = options;
  const names = vendorNames(cluster.vendor, cluster.compat);
  if (agentNode.failSwapOn && (await readMachine()).hasSwap) {
    throw new StartupError('this machine has swap space: turn it off, or give --fail-swap-on=false');
  }
  const access = await accessOfNode({ options: agentApi, names, nodeName, logger, signal });
  const connection = connectApi(access, agentApi, names);
  const endpoint = agentPods.containerRuntimeEndpoint;
  const runtime = await CriRuntime.open(
    endpoint,
    agentPods.imageServiceEndpoint ?? endpoint,
    agentPods.runtimeRequestTimeoutMs,
  );
  const api = connection.own();
  const agent = await NodeAgent.create({
    api,
    runtime,
    logger,
    names,
    options: await agentOptions(options, nodeName, logger, addressesFolder),
  });
  let known: () => void = () => undefined;
  const registered = new Promise<void>((resolve) => {
    known = resolve;
  });
  await agent.start(known).catch((error: unknown) => {
    throw new StartupError(`the servers of the agent can't listen: ${errorText(error)}`);
  });
  await renewNodeCertificates({ options, nodeName, names, logger, agent, api, access, connection }, signal);
  const groups = shutdownGroups(options);
  const totalMs = groups.reduce((sum, { graceMs }) => sum + graceMs, 0);
  const stopping = new AbortController();
  const onShutdown = () => agent.shutDown(groups);
  const watch = new ShutdownWatch({ totalMs, timers: systemTimers, logger, onShutdown, onCancel: () => agent.goOn() });
  const watching = totalMs > 0 ? watch.run(stopping.signal) : undefined;
  return {
    registered,
    shutdownMs: totalMs,
    stop: async () => {
      if (totalMs > 0 && (await isMachineStopping())) await agent.shutDown(groups);
      stopping.abort();
      await watching;
      await agent.stop();
      runtime.close();
      connection.stop();
    },
  };
}

function connectApi(
  access: ApiAccess,
  { kubeApiQps, kubeApiBurst, kubeApiContentType }: Readonly<AgentApiOptions>,
  names: VendorNames,
) {
  return new ApiConnection(access, {
    userAgent: 'plinth-node',
    rate: new RateLimiter(kubeApiQps, kubeApiBurst, systemTimers),
    bodies: kubeApiContentType === jsonType ? jsonBodies : new ProtobufBodies(kubeApiContentType, names, agentKinds),
  });
}

/** Which pods have how long to end when the machine shuts down; empty: they run on. */
function shutdownGroups({ agentHousekeeping: keeping }: NodeCommandOptions): readonly ShutdownGroup[] {
  const { shutdownGracePeriodMs: totalMs, shutdownGracePeriodCriticalPodsMs: criticalMs } = keeping;
  if (totalMs > 0) return twoGroups(totalMs, criticalMs);
  return keeping.shutdownGracePeriodByPodPriority.map((pair) => {
    const [priority = '', grace = ''] = pair.split('=');
    return { priority: Number(priority), graceMs: parseFlagDuration(grace) ?? 0 };
  });
}

/** The hard thresholds and then the soft ones, each with the amount that must be reclaimed. */
function thresholdsOf({ agentHousekeeping: keeping }: NodeCommandOptions): Threshold[] {
  const valuesOf = (pairs: readonly string[]) => new Map(pairs.map((pair) => pair.split('=') as [string, string]));
  const graces = valuesOf(keeping.evictionSoftGracePeriod);
  const reclaims = valuesOf(keeping.evictionMinimumReclaim);
  const read = (text: string): Threshold => {
    const threshold = readThreshold(text);
    const reclaim = reclaims.get(threshold.signal);
    return { ...threshold, ...(reclaim === undefined ? {} : { reclaim: readAmount(reclaim) }) };
  };
  const soft = keeping.evictionSoft.map((text) => {
    const threshold = read(text);
    return { ...threshold, graceMs: parseFlagDuration(graces.get(threshold.signal) ?? '') ?? 0 };
  });
  return [...keeping.evictionHard.map(read), ...soft];
}

/** The settings of the agent from the flags. */
async function agentOptions(
  options: NodeCommandOptions,
  nodeName: string,
  logger: Logger,
  addressesFolder: string | undefined,
): Promise<AgentOptions> {
  const { agentNode: node, agentPods: pods, agentServer: server, agentHousekeeping: keeping } = options;
  const thresholds = thresholdsOf(options);
  return {
    nodeName,
    hostname: node.hostnameOverride ?? hostname().toLowerCase(),
    nodeIPs: node.nodeIP,
    labels: Object.fromEntries(node.nodeLabels.map((pair) => pair.split('=') as [string, string])),
    taints: node.registerWithTaints.map(readTaint),
    registersNode: node.registerNode,
    unschedulable: !node.registerSchedulable,
    rootFolder: pods.rootDir,
    logFolder: pods.podLogsDir,
    clusterDns: pods.clusterDns,
    clusterDomain: pods.clusterDomain,
    resolvConf: pods.resolvConf,
    cgroupRoot: pods.cgroupRoot,
    cfsQuota: pods.cpuCfsQuota,
    cfsQuotaPeriodMs: pods.cpuCfsQuotaPeriodMs,
    cpuManager: {
      policy: pods.cpuManagerPolicy,
      reconcileMs: pods.cpuManagerReconcilePeriodMs,
      reservedCpus: pods.reservedCpus,
    },
    reserved: reservedOf(options),
    maxPods: node.maxPods,
    podCidr: node.podCidr,
    network: {
      configurationFolder: pods.cniConfDir,
      bridge: pods.cniBridge,
      addressesFolder,
      checksSenders: pods.cniCheckSenders,
    },
    leaseMs: node.nodeLeaseMs,
    statusLookMs: node.nodeStatusUpdateFrequencyMs,
    statusReportMs: node.nodeStatusReportFrequencyMs,
    eventQps: pods.eventQps,
    eventBurst: pods.eventBurst,
    serializesPulls: pods.serializeImagePulls,
    port: server.enableServer ? server.port : 0,
    version: agentVersion,
    thresholds,
    sources: await sourcesOf(options),
    server: server.enableServer ? await serverOf(options, nodeName, logger) : undefined,
    healthz: server.healthzPort === 0 ? undefined : { address: server.healthzBindAddress, port: server.healthzPort },
    housekeeping: {
      imageHighPercent: keeping.imageGcHighThreshold,
      imageLowPercent: keeping.imageGcLowThreshold,
      imageYoungestMs: keeping.minimumImageTtlMs,
      logMaxBytes: quantityValue(keeping.containerLogMaxSize),
      logMaxFiles: keeping.containerLogMaxFiles,
      thresholds,
      mostGraceSeconds: keeping.evictionMaxPodGracePeriod,
      transitionMs: keeping.evictionPressureTransitionPeriodMs,
    },
  };
}

/** How much of each resource is reserved for everything but pods. */
function reservedOf({ agentPods: pods }: NodeCommandOptions): Record<string, string> {
  const sums: Record<string, number> = {};
  for (const pair of [...pods.kubeReserved, ...pods.systemReserved]) {
    const [name = '', amount = '0'] = pair.split('=');
    sums[name] = (sums[name] ?? 0) + quantityMilliValue(amount);
  }
  if (pods.reservedCpus !== '') sums.cpu = 1000 * parseCpuSet(pods.reservedCpus).length;
  return Object.fromEntries(Object.entries(sums).map(([name, milli]) => [name, `${milli}m`]));
}

async function sourcesOf({ agentSources: sources }: NodeCommandOptions): Promise<AgentOptions['sources']> {
  const { submissionPort: port, submissionTokenFile } = sources;
  if (port !== 0 && submissionTokenFile === undefined) {
    throw new StartupError('--submission-port needs --submission-token-file');
  }
  const token = submissionTokenFile === undefined ? '' : (await readFile(submissionTokenFile, 'utf8')).trim();
  if (port !== 0 && token.length < 16)
    throw new StartupError('the token of --submission-token-file must have 16 characters or more');
  return {
    manifestPath: sources.podManifestPath,
    fileCheckMs: sources.fileCheckFrequencyMs,
    manifestUrl: sources.manifestUrl,
    manifestUrlHeaders: sources.manifestUrlHeader.map((header): [string, string] => {
      const colon = header.indexOf(':');
      return [header.slice(0, colon), header.slice(colon + 1).trim()];
    }),
    httpCheckMs: sources.httpCheckFrequencyMs,
    submission: port === 0 ? undefined : { port, token },
  };
}

async function serverOf(options: NodeCommandOptions, nodeName: string, logger: Logger): Promise<AgentServerSettings> {
  const { agentServer: server, agentApi } = options;
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile } = server;
  if (agentApi.rotateServerCertificates && tlsCertFile !== undefined) {
    throw new StartupError('--rotate-server-certificates and --tls-cert-file exclude each other');
  }
  const kept = agentApi.rotateServerCertificates
    ? await keptCertificate(agentApi.certDir, await servingPurpose(options), systemClock.now())
    : undefined;
  const own =
    kept ??
    (tlsCertFile === undefined || tlsPrivateKeyFile === undefined
      ? await issueCertificate(
          { ...nodeServerRequest(['127.0.0.1']), commonName: nodeName, names: [nodeName, ...options.agentNode.nodeIP] },
          systemClock.now(),
        )
      : { certificate: await readFile(tlsCertFile, 'utf8'), privateKey: await readFile(tlsPrivateKeyFile, 'utf8') });
  const mode = server.authorizationMode ?? (agentApi.config === undefined ? 'AlwaysAllow' : 'Webhook');
  if (mode === 'AlwaysAllow' && server.anonymousAuth) {
    logger.warn(
      `everybody who reaches port ${server.port} can read logs and run commands in containers of this node: ` +
        'set --client-ca-file, --authentication-token-webhook, --anonymous-auth=false and --authorization-mode=Webhook',
    );
  }
  return {
    address: server.address,
    certificates: {
      ...own,
      clientAuthority: clientCaFile === undefined ? undefined : await readFile(clientCaFile, 'utf8'),
    },
    authentication: {
      anonymous: server.anonymousAuth,
      tokenWebhook: server.authenticationTokenWebhook,
      tokenCacheMs: server.authenticationTokenWebhookCacheTtlMs,
    },
    authorization: {
      mode,
      allowedCacheMs: server.authorizationWebhookCacheAuthorizedTtlMs,
      deniedCacheMs: server.authorizationWebhookCacheUnauthorizedTtlMs,
    },
    debugging: server.enableDebuggingHandlers,
    streamIdleMs: server.streamingConnectionIdleTimeoutMs,
    configuration: agentConfiguration(options, mode),
  };
}
