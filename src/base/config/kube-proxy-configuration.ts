import { DocumentFields } from './document-fields.js';
import { DocumentProblems } from './document-problems.js';
import { parseFlagDuration } from './flag-duration.js';
import { isEmptySetting } from './is-empty-setting.js';

type Defaults = Record<string, unknown>;

const texts: Readonly<Record<string, string>> = {
  hostnameOverride: 'hostname-override',
  mode: 'proxy-mode',
  detectLocalMode: 'detect-local-mode',
};

/** Address fields with their flags, and the port to use when the address has none. */
const servers = [
  ['healthzBindAddress', 'healthz-bind-address', 10_256],
  ['metricsBindAddress', 'metrics-bind-address', 10_249],
] as const;

/**
 * Fields of which only the default is supported, with the values that other programs write into every file. Any other
 * value is refused, because this proxy would not honour it.
 */
const onlyDefault: Readonly<Record<string, readonly unknown[]>> = {
  bindAddress: ['0.0.0.0', '::'],
  bindAddressHardFail: [],
  enableProfiling: [],
  showHiddenMetricsForVersion: [],
  oomScoreAdj: [-999],
  configSyncPeriod: ['15m0s'],
  portRange: [],
  windowsRunAsService: [],
  featureGates: [],
};
/**
 * Fields that are accepted and ignored: settings of other proxy modes, and of the log, which has flags of this
 * program's own.
 */
const unused = ['iptables', 'ipvs', 'winkernel', 'logging'];

/**
 * Translates a v1alpha1 KubeProxyConfiguration into defaults of flags. Unknown fields are problems, and so are values
 * that this proxy does not support. Settings of modes other than nftables are ignored, as kube-proxy ignores settings
 * of modes that are not in use.
 *
 * @throws DocumentError with all problems
 */
export function kubeProxyConfigurationDefaults(document: unknown): Defaults {
  const problems = new DocumentProblems();
  const fields = DocumentFields.ofDocument(
    document,
    'KubeProxyConfiguration',
    ['kubeproxy.config.k8s.io/v1alpha1'],
    problems,
  );
  const defaults: Defaults = {};
  const reader = new Reader(defaults, problems);
  const value = document as Record<string, unknown>;
  for (const [field, flag] of Object.entries(texts)) reader.text(fields, field, flag);
  for (const [field, flag, port] of servers) {
    const address = fields.text(field);
    if (address !== '') defaults[flag] = withPort(address, port);
  }
  const ranges = fields.text('clusterCIDR');
  if (ranges !== '') defaults['cluster-cidr'] = ranges.split(',');
  const addresses = fields.texts('nodePortAddresses');
  if (addresses.length > 0) defaults['nodeport-addresses'] = addresses;
  readConnection(fields, reader);
  readNftables(fields, reader);
  readDetection(fields, reader);
  readConntrack(fields, reader);
  for (const [field, allowed] of Object.entries(onlyDefault)) {
    if (!fields.has(field) || isEmptySetting(value[field]) || allowed.includes(value[field])) continue;
    problems.lines.push(`${field}: this proxy does not support other values than the default`);
  }
  for (const field of unused) fields.has(field);
  fields.done();
  problems.throwIfAny();
  return defaults;
}

/** Copies fields into the defaults of flags. */
class Reader {
  constructor(
    readonly defaults: Defaults,
    readonly problems: DocumentProblems,
  ) {}

  text(fields: DocumentFields, field: string, flag: string): void {
    const text = fields.text(field);
    if (text !== '') this.defaults[flag] = text;
  }

  set(flag: string, value: unknown): void {
    if (value !== undefined) this.defaults[flag] = value;
  }

  /** @param zeroIsDefault whether 0 stands for the default: files that programs write contain 0 for unset fields */
  duration(fields: DocumentFields, field: string, flag: string, zeroIsDefault: boolean): void {
    const text = fields.text(field);
    if (text === '') return;
    const value = parseFlagDuration(text);
    if (value === undefined) this.problems.lines.push(`${fields.at(field)}: must be a duration such as 30s`);
    else if (value !== 0 || !zeroIsDefault) this.defaults[flag] = value;
  }
}

function readConnection(fields: DocumentFields, reader: Reader): void {
  const connection = fields.object('clientConnection');
  if (connection === undefined) return;
  reader.text(connection, 'kubeconfig', 'kubeconfig');
  // Ignored: the encoding and rate of requests do not matter for a client that only watches.
  for (const field of ['acceptContentTypes', 'contentType', 'qps', 'burst']) connection.has(field);
  connection.done();
}

function readNftables(fields: DocumentFields, reader: Reader): void {
  const nftables = fields.object('nftables');
  if (nftables === undefined) return;
  reader.set('masquerade-bit', nftables.number('masqueradeBit'));
  reader.set('masquerade-all', nftables.flag('masqueradeAll'));
  reader.duration(nftables, 'syncPeriod', 'sync-period', true);
  reader.duration(nftables, 'minSyncPeriod', 'min-sync-period', true);
  nftables.done();
}

function readDetection(fields: DocumentFields, reader: Reader): void {
  const detection = fields.object('detectLocal');
  if (detection === undefined) return;
  reader.text(detection, 'bridgeInterface', 'pod-bridge-interface');
  reader.text(detection, 'interfaceNamePrefix', 'pod-interface-name-prefix');
  detection.done();
}

function readConntrack(fields: DocumentFields, reader: Reader): void {
  const conntrack = fields.object('conntrack');
  if (conntrack === undefined) return;
  reader.set('conntrack-max-per-core', conntrack.number('maxPerCore'));
  reader.set('conntrack-min', conntrack.number('min'));
  reader.set('conntrack-tcp-be-liberal', conntrack.flag('tcpBeLiberal'));
  reader.duration(conntrack, 'tcpEstablishedTimeout', 'conntrack-tcp-timeout-established', false);
  reader.duration(conntrack, 'tcpCloseWaitTimeout', 'conntrack-tcp-timeout-close-wait', false);
  reader.duration(conntrack, 'udpTimeout', 'conntrack-udp-timeout', false);
  reader.duration(conntrack, 'udpStreamTimeout', 'conntrack-udp-timeout-stream', false);
  conntrack.done();
}

/** Adds the port if the address has none. */
function withPort(address: string, port: number): string {
  if (/^\[.*\]:\d+$|^[^:]+:\d+$/.test(address)) return address;
  return address.includes(':') ? `[${address.replace(/^\[|\]$/g, '')}]:${port}` : `${address}:${port}`;
}
