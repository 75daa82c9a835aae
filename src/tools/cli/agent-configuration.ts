import { formatFlagDuration, parseFlagDuration } from '../../base/config/flag-duration.js';
import type { NodeCommandOptions } from './commands/node-command-options.js';
import { readTaint } from './read-taint.js';

/**
 * The configuration in force, in the form of the configuration file: every field whose setting this agent has, and those of which it has
 * one value only. Headers of requests may be secret, so their values are masked.
 *
 * @param mode that of the authorization
 */
export function agentConfiguration(options: NodeCommandOptions, mode: string): object {
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    ...sourceFields(options),
    ...serverFields(options, mode),
    ...apiFields(options),
    ...nodeFields(options),
    ...containerFields(options),
    ...housekeepingFields(options),
    ...shutdownFields(options),
    logging: loggingField(options),
  };
}

/** Without an entry for what is not set, as configuration files have it. */
function present(fields: Readonly<Record<string, unknown>>): object {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function pairs(texts: readonly string[], sign: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => [text.slice(0, text.indexOf(sign)), text.slice(text.indexOf(sign) + sign.length)]),
  );
}

function sourceFields({ agentSources: sources, agentPods: pods }: NodeCommandOptions): object {
  return {
    ...present({
      staticPodPath: sources.podManifestPath,
      staticPodURL: sources.manifestUrl,
      staticPodURLHeader: Object.fromEntries(
        sources.manifestUrlHeader.map((header) => [header.slice(0, header.indexOf(':')), ['<masked>']]),
      ),
    }),
    podLogsDir: pods.podLogsDir,
    syncFrequency: '1m0s',
    fileCheckFrequency: formatFlagDuration(sources.fileCheckFrequencyMs),
    httpCheckFrequency: formatFlagDuration(sources.httpCheckFrequencyMs),
  };
}

function serverFields({ agentServer: server, agentApi: api }: NodeCommandOptions, mode: string): object {
  return {
    enableServer: server.enableServer,
    address: server.address,
    port: server.port,
    ...present({ tlsCertFile: server.tlsCertFile, tlsPrivateKeyFile: server.tlsPrivateKeyFile }),
    tlsMinVersion: 'VersionTLS12',
    rotateCertificates: api.rotateCertificates,
    serverTLSBootstrap: api.rotateServerCertificates,
    authentication: {
      x509: present({ clientCAFile: server.clientCaFile }),
      webhook: {
        enabled: server.authenticationTokenWebhook,
        cacheTTL: formatFlagDuration(server.authenticationTokenWebhookCacheTtlMs),
      },
      anonymous: { enabled: server.anonymousAuth },
    },
    authorization: {
      mode,
      webhook: {
        cacheAuthorizedTTL: formatFlagDuration(server.authorizationWebhookCacheAuthorizedTtlMs),
        cacheUnauthorizedTTL: formatFlagDuration(server.authorizationWebhookCacheUnauthorizedTtlMs),
      },
    },
    enableDebuggingHandlers: server.enableDebuggingHandlers,
    enableProfilingHandler: false,
    enableDebugFlagsHandler: false,
    enableSystemLogHandler: false,
    healthzPort: server.healthzPort,
    healthzBindAddress: server.healthzBindAddress,
    streamingConnectionIdleTimeout: formatFlagDuration(server.streamingConnectionIdleTimeoutMs),
  };
}

function apiFields({ agentApi: api, agentPods: pods }: NodeCommandOptions): object {
  return {
    contentType: api.kubeApiContentType,
    kubeAPIQPS: api.kubeApiQps,
    kubeAPIBurst: api.kubeApiBurst,
    eventRecordQPS: pods.eventQps,
    eventBurst: pods.eventBurst,
    configMapAndSecretChangeDetectionStrategy: 'Get',
    enableControllerAttachDetach: true,
  };
}

function nodeFields({ agentNode: node, agentPods: pods }: NodeCommandOptions): object {
  return {
    registerNode: node.registerNode,
    ...present({ registerWithTaints: node.registerWithTaints.map(readTaint), podCIDR: node.podCidr }),
    maxPods: node.maxPods,
    nodeStatusUpdateFrequency: formatFlagDuration(node.nodeStatusUpdateFrequencyMs),
    nodeStatusReportFrequency: formatFlagDuration(node.nodeStatusReportFrequencyMs),
    nodeLeaseDurationSeconds: Math.round(node.nodeLeaseMs / 1000),
    nodeStatusMaxImages: 50,
    failSwapOn: node.failSwapOn,
    failCgroupV1: false,
    ...present({
      reservedSystemCPUs: pods.reservedCpus,
      kubeReserved: pairs(pods.kubeReserved, '='),
      systemReserved: pairs(pods.systemReserved, '='),
    }),
  };
}

function containerFields({ agentPods: pods }: NodeCommandOptions): object {
  return {
    containerRuntimeEndpoint: pods.containerRuntimeEndpoint,
    imageServiceEndpoint: pods.imageServiceEndpoint ?? pods.containerRuntimeEndpoint,
    runtimeRequestTimeout: formatFlagDuration(pods.runtimeRequestTimeoutMs),
    serializeImagePulls: pods.serializeImagePulls,
    ...(pods.serializeImagePulls ? { maxParallelImagePulls: 1 } : {}),
    imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
    ...present({ clusterDomain: pods.clusterDomain, clusterDNS: pods.clusterDns }),
    resolvConf: pods.resolvConf,
    cgroupRoot: pods.cgroupRoot,
    cgroupsPerQOS: true,
    cgroupDriver: pods.cgroupDriver,
    cpuManagerPolicy: pods.cpuManagerPolicy,
    cpuManagerReconcilePeriod: formatFlagDuration(pods.cpuManagerReconcilePeriodMs),
    memoryManagerPolicy: pods.memoryManagerPolicy,
    topologyManagerPolicy: pods.topologyManagerPolicy,
    topologyManagerScope: 'container',
    cpuCFSQuota: pods.cpuCfsQuota,
    cpuCFSQuotaPeriod: formatFlagDuration(pods.cpuCfsQuotaPeriodMs),
    podPidsLimit: -1,
    seccompDefault: false,
    memorySwap: {},
    crashLoopBackOff: { maxContainerRestartPeriod: '5m0s' },
  };
}

function housekeepingFields({ agentHousekeeping: keeping }: NodeCommandOptions): object {
  return {
    imageMinimumGCAge: formatFlagDuration(keeping.minimumImageTtlMs),
    imageMaximumGCAge: '0s',
    imageGCHighThresholdPercent: keeping.imageGcHighThreshold,
    imageGCLowThresholdPercent: keeping.imageGcLowThreshold,
    containerLogMaxSize: keeping.containerLogMaxSize,
    containerLogMaxFiles: keeping.containerLogMaxFiles,
    evictionHard: pairs(keeping.evictionHard, '<'),
    ...present({
      evictionSoft: pairs(keeping.evictionSoft, '<'),
      evictionSoftGracePeriod: pairs(keeping.evictionSoftGracePeriod, '='),
      evictionMinimumReclaim: pairs(keeping.evictionMinimumReclaim, '='),
    }),
    evictionMaxPodGracePeriod: keeping.evictionMaxPodGracePeriod,
    evictionPressureTransitionPeriod: formatFlagDuration(keeping.evictionPressureTransitionPeriodMs),
    mergeDefaultEvictionSettings: false,
    localStorageCapacityIsolation: true,
  };
}

function shutdownFields({ agentHousekeeping: keeping }: NodeCommandOptions): object {
  return {
    shutdownGracePeriod: formatFlagDuration(keeping.shutdownGracePeriodMs),
    shutdownGracePeriodCriticalPods: formatFlagDuration(keeping.shutdownGracePeriodCriticalPodsMs),
    ...present({
      shutdownGracePeriodByPodPriority: Object.entries(pairs(keeping.shutdownGracePeriodByPodPriority, '=')).map(
        ([priority, grace]) => ({
          priority: Number(priority),
          shutdownGracePeriodSeconds: Math.floor((parseFlagDuration(grace) ?? 0) / 1000),
        }),
      ),
    }),
  };
}

function loggingField({ logging }: NodeCommandOptions): object {
  return { format: logging.logFormat, verbosity: logging.verbosity };
}
