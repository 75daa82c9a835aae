import { DocumentFields } from './document-fields.js';
import { DocumentProblems } from './document-problems.js';
import { parseFlagDuration } from './flag-duration.js';
import { isEmptySetting } from './is-empty-setting.js';

type Defaults = Record<string, unknown>;

/** Fields of the configuration file and the flags that they set, grouped by the form of their values. */
const durations: Readonly<Record<string, string>> = {
  fileCheckFrequency: 'file-check-frequency',
  httpCheckFrequency: 'http-check-frequency',
  streamingConnectionIdleTimeout: 'streaming-connection-idle-timeout',
  nodeStatusUpdateFrequency: 'node-status-update-frequency',
  nodeStatusReportFrequency: 'node-status-report-frequency',
  imageMinimumGCAge: 'minimum-image-ttl-duration',
  cpuManagerReconcilePeriod: 'cpu-manager-reconcile-period',
  runtimeRequestTimeout: 'runtime-request-timeout',
  cpuCFSQuotaPeriod: 'cpu-cfs-quota-period',
  evictionPressureTransitionPeriod: 'eviction-pressure-transition-period',
  shutdownGracePeriod: 'shutdown-grace-period',
  shutdownGracePeriodCriticalPods: 'shutdown-grace-period-critical-pods',
};
const strings: Readonly<Record<string, string>> = {
  staticPodPath: 'pod-manifest-path',
  staticPodURL: 'manifest-url',
  podLogsDir: 'pod-logs-dir',
  address: 'address',
  tlsCertFile: 'tls-cert-file',
  tlsPrivateKeyFile: 'tls-private-key-file',
  healthzBindAddress: 'healthz-bind-address',
  clusterDomain: 'cluster-domain',
  cgroupRoot: 'cgroup-root',
  cgroupDriver: 'cgroup-driver',
  cpuManagerPolicy: 'cpu-manager-policy',
  reservedSystemCPUs: 'reserved-cpus',
  podCIDR: 'pod-cidr',
  resolvConf: 'resolv-conf',
  containerLogMaxSize: 'container-log-max-size',
  containerRuntimeEndpoint: 'container-runtime-endpoint',
  imageServiceEndpoint: 'image-service-endpoint',
  contentType: 'kube-api-content-type',
};
const numbers: Readonly<Record<string, string>> = {
  port: 'port',
  healthzPort: 'healthz-port',
  maxPods: 'max-pods',
  eventRecordQPS: 'event-qps',
  eventBurst: 'event-burst',
  kubeAPIQPS: 'kube-api-qps',
  kubeAPIBurst: 'kube-api-burst',
  imageGCHighThresholdPercent: 'image-gc-high-threshold',
  imageGCLowThresholdPercent: 'image-gc-low-threshold',
  containerLogMaxFiles: 'container-log-max-files',
  evictionMaxPodGracePeriod: 'eviction-max-pod-grace-period',
};
const booleans: Readonly<Record<string, string>> = {
  enableServer: 'enable-server',
  enableDebuggingHandlers: 'enable-debugging-handlers',
  registerNode: 'register-node',
  failSwapOn: 'fail-swap-on',
  cpuCFSQuota: 'cpu-cfs-quota',
  serializeImagePulls: 'serialize-image-pulls',
  rotateCertificates: 'rotate-certificates',
  serverTLSBootstrap: 'rotate-server-certificates',
};

/**
 * Fields of which only the default is supported. Any other value is refused, because this agent would not honour it.
 */
const onlyDefault: Readonly<Record<string, readonly unknown[]>> = {
  syncFrequency: ['1m0s'],
  readOnlyPort: [],
  tlsCipherSuites: [],
  tlsCurvePreferences: [],
  tlsMinVersion: ['VersionTLS12'],
  registryPullQPS: [5],
  registryBurst: [10],
  imagePullCredentialsVerificationPolicy: ['NeverVerifyPreloadedImages'],
  preloadedImagesVerificationAllowlist: [],
  enableContentionProfiling: [],
  oomScoreAdj: [-999],
  imageMaximumGCAge: [],
  volumeStatsAggPeriod: ['1m0s'],
  kubeletCgroups: [],
  systemCgroups: [],
  cgroupsPerQOS: [true],
  singleProcessOOMKill: [],
  cpuManagerPolicyOptions: [],
  memoryManagerPolicy: ['None'],
  topologyManagerPolicy: ['none'],
  topologyManagerScope: ['container'],
  topologyManagerPolicyOptions: [],
  qosReserved: [],
  hairpinMode: ['promiscuous-bridge', 'hairpin-veth', 'none'],
  podPidsLimit: [-1],
  runOnce: [],
  nodeStatusMaxImages: [50],
  maxOpenFiles: [1_000_000],
  maxParallelImagePulls: [1],
  mergeDefaultEvictionSettings: [],
  podsPerCore: [],
  enableControllerAttachDetach: [true],
  protectKernelDefaults: [],
  makeIPTablesUtilChains: [true],
  iptablesMasqueradeBit: [14],
  iptablesDropBit: [15],
  featureGates: [],
  memorySwap: [],
  containerLogMaxWorkers: [1],
  containerLogMonitorInterval: ['10s'],
  configMapAndSecretChangeDetectionStrategy: ['Watch', 'Get', 'Cache'],
  showHiddenMetricsForVersion: [],
  systemReservedCgroup: [],
  kubeReservedCgroup: [],
  enforceNodeAllocatable: [],
  allowedUnsafeSysctls: [],
  defaultPodSysctls: [],
  volumePluginDir: ['/usr/libexec/kubernetes/kubelet-plugins/volume/exec/'],
  providerID: [],
  kernelMemcgNotification: [],
  logging: [],
  enableSystemLogHandler: [true],
  enableSystemLogQuery: [],
  crashLoopBackOff: [],
  reservedMemory: [],
  enableProfilingHandler: [true],
  enableDebugFlagsHandler: [true],
  seccompDefault: [],
  memoryThrottlingFactor: [],
  memoryReservationPolicy: ['None'],
  tracing: [],
  localStorageCapacityIsolation: [true],
  failCgroupV1: [true],
  userNamespaces: [],
};

/**
 * Defaults of the configuration file where they differ from those of the flags: no anonymous requests, and the API
 * authenticates and authorizes.
 */
const defaultsOfFile: Defaults = {
  'anonymous-auth': false,
  'authentication-token-webhook': true,
  'authorization-mode': 'Webhook',
};

/**
 * Translates a v1beta1 KubeletConfiguration into defaults of flags. Unknown fields are problems, and so are values that
 * this agent does not support.
 *
 * @throws DocumentError with all problems
 */
export function kubeletConfigurationDefaults(document: unknown): Defaults {
  const problems = new DocumentProblems();
  const fields = DocumentFields.ofDocument(
    document,
    'KubeletConfiguration',
    ['kubelet.config.k8s.io/v1beta1'],
    problems,
  );
  const defaults: Defaults = { ...defaultsOfFile };
  const value = (document as Record<string, unknown>) ?? {};
  for (const [field, flag] of Object.entries(durations)) setDuration(fields, field, flag, defaults, problems);
  for (const [field, flag] of Object.entries(strings))
    if (fields.text(field) !== '') defaults[flag] = fields.text(field);
  for (const [field, flag] of Object.entries(numbers)) set(defaults, flag, fields.number(field));
  for (const [field, flag] of Object.entries(booleans)) set(defaults, flag, fields.flag(field));
  const seconds = fields.number('nodeLeaseDurationSeconds');
  if (seconds) defaults['node-lease-duration'] = seconds * 1000;
  if (fields.texts('clusterDNS').length > 0) defaults['cluster-dns'] = fields.texts('clusterDNS');
  const taints = fields.objects('registerWithTaints').map((taint) => {
    const [key, own, effect] = [taint.text('key'), taint.text('value'), taint.text('effect')];
    taint.has('timeAdded');
    taint.done();
    return `${key}${own === '' ? '' : `=${own}`}:${effect}`;
  });
  if (taints.length > 0) defaults['register-with-taints'] = taints;
  const graces = fields.objects('shutdownGracePeriodByPodPriority').map((each) => {
    const pair = `${each.number('priority') ?? 0}=${each.number('shutdownGracePeriodSeconds') ?? 0}s`;
    each.done();
    return pair;
  });
  if (graces.length > 0) defaults['shutdown-grace-period-by-pod-priority'] = graces;
  readMaps(fields, value, defaults);
  readAccess(fields, defaults, problems);
  for (const [field, allowed] of Object.entries(onlyDefault)) {
    if (!fields.has(field) || isEmptySetting(value[field]) || allowed.includes(value[field])) continue;
    problems.lines.push(`${field}: this node agent does not support other values than the default`);
  }
  fields.done();
  problems.throwIfAny();
  return defaults;
}

function set(defaults: Defaults, flag: string, value: unknown): void {
  if (value !== undefined) defaults[flag] = value;
}

/** A duration of zero stands for the default, as in files that programs write. */
function setDuration(
  fields: DocumentFields,
  field: string,
  flag: string,
  defaults: Defaults,
  problems: DocumentProblems,
) {
  const text = fields.text(field);
  if (text === '') return;
  const value = parseFlagDuration(text);
  if (value === undefined) problems.lines.push(`${field}: must be a duration such as 30s`);
  else if (value !== 0) defaults[flag] = value;
}

function readMaps(fields: DocumentFields, value: Record<string, unknown>, defaults: Defaults): void {
  if (fields.has('evictionHard')) {
    const thresholds = (value.evictionHard ?? {}) as Record<string, unknown>;
    defaults['eviction-hard'] = Object.entries(thresholds).map(([signal, amount]) => `${signal}<${amount}`);
  }
  const maps = [
    ['evictionSoft', 'eviction-soft', '<'],
    ['evictionSoftGracePeriod', 'eviction-soft-grace-period', '='],
    ['evictionMinimumReclaim', 'eviction-minimum-reclaim', '='],
    ['kubeReserved', 'kube-reserved', '='],
    ['systemReserved', 'system-reserved', '='],
  ] as const;
  for (const [field, flag, sign] of maps) {
    if (!fields.has(field)) continue;
    const entries = Object.entries((value[field] ?? {}) as Record<string, unknown>);
    if (entries.length > 0) defaults[flag] = entries.map(([signal, amount]) => `${signal}${sign}${amount}`);
  }
  if (fields.has('staticPodURLHeader')) {
    const headers = (value.staticPodURLHeader ?? {}) as Record<string, unknown>;
    const all = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((each) => `${name}:${each}`));
    if (all.length > 0) defaults['manifest-url-header'] = all;
  }
}

function readAccess(fields: DocumentFields, defaults: Defaults, problems: DocumentProblems): void {
  const authentication = fields.object('authentication');
  const x509 = authentication?.object('x509');
  if (x509 !== undefined && x509.text('clientCAFile') !== '') defaults['client-ca-file'] = x509.text('clientCAFile');
  x509?.done();
  const anonymous = authentication?.object('anonymous');
  set(defaults, 'anonymous-auth', anonymous?.flag('enabled'));
  anonymous?.done();
  const tokens = authentication?.object('webhook');
  set(defaults, 'authentication-token-webhook', tokens?.flag('enabled'));
  if (tokens !== undefined)
    setDuration(tokens, 'cacheTTL', 'authentication-token-webhook-cache-ttl', defaults, problems);
  tokens?.done();
  authentication?.done();
  const authorization = fields.object('authorization');
  const mode = authorization?.text('mode') ?? '';
  if (mode !== '') defaults['authorization-mode'] = mode;
  const rights = authorization?.object('webhook');
  if (rights !== undefined) {
    setDuration(rights, 'cacheAuthorizedTTL', 'authorization-webhook-cache-authorized-ttl', defaults, problems);
    setDuration(rights, 'cacheUnauthorizedTTL', 'authorization-webhook-cache-unauthorized-ttl', defaults, problems);
  }
  rights?.done();
  authorization?.done();
}
