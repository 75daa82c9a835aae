import { hostname } from 'node:os';
import { StartupError } from '../../base/machinery/startup-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Logger } from '../../base/observability/logger.js';
import { NodeAgent } from '../../nodes/agent/agent.js';
import { CriRuntime } from '../../nodes/agent/cri/cri-runtime.js';
import { ApiConnection } from '../../nodes/connection/api-connection.js';
import { RateLimiter } from '../../nodes/connection/rate-limiter.js';
import type { Taint } from '../../objects/apis/core/v1/affinity.types.js';
import { accessOf } from './api-access.js';
import type { NodeCommandOptions } from './commands/node.command.js';

export interface AgentToRun {
  readonly options: NodeCommandOptions;
  readonly nodeName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface RunningAgent {
  /** Resolves when the API knows the node. */
  readonly registered: Promise<void>;
  /** Containers run on. */
  stop(): Promise<void>;
}

/** The release whose agent this one stands for. */
const agentVersion = 'v1.37.2';

/** Starts the agent of this machine. */
export async function startAgent({ options, nodeName, logger }: AgentToRun): Promise<RunningAgent> {
  const { agentApi: apiOptions, agentNode: node, agentPods: pods, cluster } = options;
  if (apiOptions.kubeconfig === undefined) throw new StartupError('give a --kubeconfig');
  const access = await accessOf({
    kubeconfig: apiOptions.kubeconfig,
    context: undefined,
    server: undefined,
    certificateAuthority: undefined,
    clientCertificate: undefined,
    clientKey: undefined,
    token: undefined,
  });
  const connection = new ApiConnection(access, {
    userAgent: 'plinth-node',
    rate: new RateLimiter(apiOptions.kubeApiQps, apiOptions.kubeApiBurst, systemTimers),
  });
  const endpoint = pods.containerRuntimeEndpoint;
  const runtime = await CriRuntime.open(endpoint, pods.imageServiceEndpoint ?? endpoint, pods.runtimeRequestTimeoutMs);
  const agent = await NodeAgent.create({
    api: connection.own(),
    runtime,
    logger,
    names: vendorNames(cluster.vendor, cluster.compat),
    options: {
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
      maxPods: node.maxPods,
      podCidr: node.podCidr,
      leaseMs: node.nodeLeaseMs,
      statusLookMs: node.nodeStatusUpdateFrequencyMs,
      statusReportMs: node.nodeStatusReportFrequencyMs,
      eventQps: pods.eventQps,
      eventBurst: pods.eventBurst,
      serializesPulls: pods.serializeImagePulls,
      port: 0,
      version: agentVersion,
      reserved: {},
    },
  });
  const registered = new Promise<void>((resolve) => agent.start(resolve));
  return {
    registered,
    stop: async () => {
      await agent.stop();
      runtime.close();
      connection.stop();
    },
  };
}

function readTaint(text: string): Taint {
  const [pair = '', effect = ''] = text.split(':');
  const [key = '', value] = pair.split('=');
  return { key, effect, ...(value ? { value } : {}) } as Taint;
}
