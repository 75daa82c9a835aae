import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';
import { loopOfRelease, releaseLoopNames } from './release-loop-names.js';

/** The controllers by their names in `--controllers`, and whether each runs by default. */
export const controllerDefaults = {
  eventttl: true,
  namespace: true,
  garbagecollector: true,
  podgc: true,
  'ttl-after-finished': true,
  'storage-version-migrator': true,
  'storage-version-migration': true,
  'podcertificaterequest-cleaner-controller': true,
  'allocation-repair': true,
  'clusterrole-aggregation': true,
  'pvc-protection': true,
  'pv-protection': true,
  'persistentvolume-binder': true,
  'ephemeral-volume-controller': true,
  'resourceclaim-controller': true,
  'device-taint-eviction-controller': true,
  'persistentvolume-attach-detach-controller': true,
  'volumeattributesclass-protection-controller': true,
  resourcequota: true,
  'validatingadmissionpolicy-status': true,
  'customresourcedefinition-status': true,
  'customresourcedefinition-cleanup': true,
  job: true,
  cronjob: true,
  horizontalpodautoscaling: true,
  'sql-views': true,
  'sql-projection': true,
  'apiservice-registration': true,
  'apiservice-availability': true,
  deployment: true,
  disruption: true,
  replicaset: true,
  replicationcontroller: true,
  daemonset: true,
  statefulset: true,
  endpoint: true,
  endpointslice: true,
  endpointslicemirroring: true,
  'service-cidr-controller': true,
  nodelifecycle: true,
  nodeipam: true,
  ttl: true,
  'taint-eviction-controller': true,
  csrapproving: true,
  csrsigning: true,
  csrcleaner: true,
  serviceaccount: true,
  'serviceaccount-token': true,
  'legacy-serviceaccount-token-cleaner-controller': true,
  'root-ca-cert-publisher': true,
  'kube-apiserver-serving-clustertrustbundle-publisher-controller': true,
  scheduler: true,
  bootstrapsigner: false,
  /** Upstream's name for the bootstrap signer. Under this name it signs with the key that upstream's tools expect. */
  'bootstrap-signer-controller': false,
  tokencleaner: false,
} as const;

export type ControllerName = keyof typeof controllerDefaults;

const controllerNames = Object.keys(controllerDefaults) as ControllerName[];

/** The controllers that belong to the server itself: no external controller manager does their work. */
const serverLoops: ReadonlySet<ControllerName> = new Set<ControllerName>([
  'eventttl',
  'allocation-repair',
  'storage-version-migrator',
  'validatingadmissionpolicy-status',
  'customresourcedefinition-status',
  'customresourcedefinition-cleanup',
  'sql-views',
  'sql-projection',
  'apiservice-registration',
  'apiservice-availability',
]);

/**
 * The controllers that a list such as `*,bootstrapsigner,-csrcleaner` selects: `*` stands for all that run by default,
 * `-*` for those that belong to the server itself; a name adds a controller, and a dash before it excludes the
 * controller, whatever else the list contains.
 */
export function selectedControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  const given = new Set(list.map(ownName));
  const isMeant = (name: ControllerName) =>
    given.has(name) || (given.has('-*') ? serverLoops.has(name) : given.has('*') && controllerDefaults[name]);
  return new Set(controllerNames.filter((name) => !given.has(`-${name}`) && isMeant(name)));
}

/** An entry of the list, with the controller's name in this program. */
function ownName(entry: string): string {
  const [dash, name] = entry.startsWith('-') ? ['-', entry.slice(1)] : ['', entry];
  return `${dash}${Object.hasOwn(controllerDefaults, name) ? name : (loopOfRelease(name) ?? name)}`;
}

/** One message for each controller of the release that the list names and this program does not have. */
function missingLoops(list: readonly string[]): readonly string[] {
  const names = list.map((entry) => ownName(entry).replace(/^-/, ''));
  const missing = names.filter((name) => releaseLoopNames.includes(name) && !Object.hasOwn(controllerDefaults, name));
  return missing.map((name) => `this program has no control loop ${name}`);
}

function controllersProblem(list: readonly string[]): string | undefined {
  const names = [...controllerNames, ...releaseLoopNames];
  const known = new Set(['*', '-*', ...names.flatMap((name) => [name, `-${name}`])]);
  const unknown = list.filter((entry) => !known.has(entry));
  return unknown.length === 0
    ? undefined
    : `names the unknown control loop ${unknown.join(', ')}; choose from ${controllerNames.join(', ')}`;
}

const minDurationMs = 600_000;

/** Which controllers a process runs, and with which authorities they sign certificates. */
export class ControlLoopOptions {
  @Flag({
    name: 'controllers',
    type: 'list',
    values: ['*', '-*', ...controllerNames],
    warnings: (list) => missingLoops(list as readonly string[]),
    unit: 'names',
    usage: `Control loops to run: * for the usual ones, -* for only those that no other controller manager has, a name for one more, -name for one less. Names: ${controllerNames.join(', ')}; or those of release 1.37.`,
  })
  @Check('controllers', controllersProblem)
  readonly controllers: readonly string[] = ['*'];

  @Flag({
    name: 'scheduler-names',
    type: 'list',
    unit: 'names',
    usage: 'Names of the control loop scheduler: it places the pods whose spec.schedulerName is one of them.',
  })
  @Check<readonly string[]>('schedulerNames', (names) =>
    names.length > 0 && names.every((name) => name !== '') ? undefined : 'must name at least one scheduler',
  )
  readonly schedulerNames: readonly string[] = ['default-scheduler'];

  @Flag({
    name: 'creation-rate',
    type: 'int',
    unit: 'objects per second',
    usage:
      'How many objects control loops create per second in one namespace. After a pause, ten times as many are ' +
      'created at once. While the thread of the loops is busy and other namespaces have work, a quarter as many ' +
      'are created. Objects whose creation is delayed for long get the event CreationDelayed.',
  })
  @Check<number>('creationRate', (rate) => (rate >= 1 ? undefined : 'must be at least 1'))
  readonly creationRate: number = 200;

  @Flag({
    name: 'creation-bytes',
    type: 'int',
    unit: 'bytes per second',
    usage:
      'Size of the objects that control loops create per second in one namespace, limited like ' +
      '--creation-rate; and, counted separately, of the large objects that they change there. Objects whose ' +
      'change is delayed for long get the event ChangeDelayed.',
  })
  @Check<number>('creationBytes', (bytes) => (bytes >= 1024 ? undefined : 'must be at least 1024'))
  readonly creationBytes: number = 1024 * 1024;

  @Flag({
    name: 'terminated-pod-gc-threshold',
    type: 'int',
    unit: 'pods',
    usage: 'How many pods that have finished are kept; beyond that the oldest are deleted. 0 or less: all are kept.',
  })
  readonly terminatedPodThreshold: number = 12_500;

  @Flag({
    name: 'legacy-service-account-token-clean-up-period',
    type: 'duration',
    usage:
      'How long a service account token in a secret must have been unused before it becomes invalid; after the ' +
      'same time again it is deleted. Applies only to secrets that their account lists.',
  })
  @Check<number>('legacyTokenPeriodMs', (ms) => (ms > 0 ? undefined : 'must be positive'))
  readonly legacyTokenPeriodMs: number = 365 * 24 * 3_600_000;

  @Flag({
    name: 'cluster-signing-cert-file',
    type: 'string',
    unit: 'file',
    usage: 'Certificate in PEM of the authority that signs approved requests. Without one nothing is signed.',
  })
  @Check('pair', pairProblem('clusterSigningKeyFile'))
  readonly clusterSigningCertFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-key-file',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --cluster-signing-cert-file: RSA, ECDSA or Ed25519.',
  })
  @Check('pair', pairProblem('clusterSigningCertFile'))
  readonly clusterSigningKeyFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-duration',
    type: 'duration',
    usage: 'Longest validity of a signed certificate; a request may ask for less.',
  })
  @Check<number>('duration', (value) => (value >= minDurationMs ? undefined : 'must be 10m or more'))
  readonly clusterSigningDurationMs: number = 8760 * 3_600_000;

  @Flag({
    name: 'cluster-signing-apiserver-client-cert-file',
    aliases: ['cluster-signing-kube-apiserver-client-cert-file'],
    type: 'string',
    unit: 'file',
    usage: 'Certificate in PEM of the authority for clients of the API, in place of --cluster-signing-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningApiserverClientKeyFile'))
  readonly clusterSigningApiserverClientCertFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-apiserver-client-key-file',
    aliases: ['cluster-signing-kube-apiserver-client-key-file'],
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --cluster-signing-apiserver-client-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningApiserverClientCertFile'))
  readonly clusterSigningApiserverClientKeyFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-nodeagent-client-cert-file',
    aliases: ['cluster-signing-kubelet-client-cert-file'],
    type: 'string',
    unit: 'file',
    usage:
      'Certificate in PEM of the authority for node agents as clients of the API, in place of --cluster-signing-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningNodeagentClientKeyFile'))
  readonly clusterSigningNodeagentClientCertFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-nodeagent-client-key-file',
    aliases: ['cluster-signing-kubelet-client-key-file'],
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --cluster-signing-nodeagent-client-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningNodeagentClientCertFile'))
  readonly clusterSigningNodeagentClientKeyFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-nodeagent-serving-cert-file',
    aliases: ['cluster-signing-kubelet-serving-cert-file'],
    type: 'string',
    unit: 'file',
    usage:
      'Certificate in PEM of the authority for the servers of node agents, in place of --cluster-signing-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningNodeagentServingKeyFile'))
  readonly clusterSigningNodeagentServingCertFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-nodeagent-serving-key-file',
    aliases: ['cluster-signing-kubelet-serving-key-file'],
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --cluster-signing-nodeagent-serving-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningNodeagentServingCertFile'))
  readonly clusterSigningNodeagentServingKeyFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-legacy-unknown-cert-file',
    type: 'string',
    unit: 'file',
    usage:
      'Certificate in PEM of the authority for requests without a known purpose, in place of --cluster-signing-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningLegacyUnknownKeyFile'))
  readonly clusterSigningLegacyUnknownCertFile: string | undefined = undefined;

  @Flag({
    name: 'cluster-signing-legacy-unknown-key-file',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --cluster-signing-legacy-unknown-cert-file.',
  })
  @Check('pair', pairProblem('clusterSigningLegacyUnknownCertFile'))
  readonly clusterSigningLegacyUnknownKeyFile: string | undefined = undefined;

  @Flag({
    name: 'service-account-private-key-file',
    type: 'string',
    unit: 'file',
    usage:
      'Private key in PEM that tokens in secrets of service accounts are signed with; servers need it, or its public ' +
      'half, as --service-account-key-file. Without one such secrets stay empty.',
  })
  readonly serviceAccountPrivateKeyFile: string | undefined = undefined;

  @Flag({
    name: 'root-ca-file',
    type: 'string',
    unit: 'file',
    usage:
      "Certificates in PEM that clients inside the cluster check the API's certificate against. They go into secrets " +
      'with tokens and into a ConfigMap of every namespace; without this option neither has any.',
  })
  readonly rootCaFile: string | undefined = undefined;
}
