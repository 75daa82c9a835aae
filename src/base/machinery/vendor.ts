/** All spellings that depend on the vendor (`docs/specification.md`, Notation). No other file contains one. */
export interface VendorNames {
  /** Suffix of the group names that carry one, e.g. `networking.<suffix>`. */
  readonly suffix: string;
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  /** Prefix of the merge markers of schemas, e.g. `<prefix>list-type`. */
  readonly markerPrefix: string;
  readonly protobufMediaType: string;
  /** All accepted spellings; the first is the one used in messages. Upstream's spelling is always included. */
  readonly protobufMediaTypes: readonly string[];
  /** Prefix of built-in signer names, without the slash. */
  readonly signerPrefix: string;
  readonly bootstrapTokenSecretType: string;
  readonly serviceAccountTokenSecretType: string;
  readonly serviceAccountNameAnnotation: string;
  readonly serviceAccountUidAnnotation: string;
  readonly serviceAccountMountPath: string;
  /** Name prefix of the volumes through which pods receive tokens. */
  readonly tokenVolumePrefix: string;
  /** ConfigMap in every namespace with the CA certificates of the API server. */
  readonly rootAuthorityMap: string;
  /** Default issuer of service account tokens, which is also their audience. */
  readonly defaultTokenIssuer: string;
  /** Claim of a service account token that names its service account and bound objects. */
  readonly tokenClaim: string;
  /** Issuer of the tokens kept in secrets; their claims start with `<tokenClaim>/serviceaccount/`. */
  readonly secretTokenIssuer: string;
  /** Prefix of a user's extra fields that describe the credential, e.g. `<prefix>/pod-name`. */
  readonly credentialPrefix: string;
  /** Prefix of the core group's secret types with required keys: `dockercfg`, `basic-auth`, `tls`, ... */
  readonly secretTypePrefix: string;
  /** Prefix of well-known labels and annotations, e.g. `<prefix>/metadata.name`. */
  readonly labelPrefix: string;
  /** Annotation in which kubectl records the last applied configuration. */
  readonly lastAppliedAnnotation: string;
  /**
   * The key that signs `cluster-info` for a bootstrap token: the whole token, or only its secret part as upstream's
   * tools expect.
   */
  readonly clusterInfoKey: 'token' | 'secret';
  /** The initial finalizer of every namespace. */
  readonly namespaceFinalizer: string;
  /** The term for node agents in messages: as one word, and in prose. */
  readonly nodeAgent: { readonly word: string; readonly prose: string };
  /** Names of the signers of certificates: `<signerPrefix>/<nodeClientSigner>`. */
  readonly apiserverClientSigner: string;
  readonly nodeClientSigner: string;
  readonly nodeServingSigner: string;
  readonly legacyUnknownSigner: string;
  /**
   * The field managers of what the scheduler, the other control loops and the server itself write. Clients that leave
   * fields to these name them.
   */
  readonly fieldManagers: FieldManagers;
}

/** Who writes what clients don't. */
export interface FieldManagers {
  readonly scheduler: string;
  /** The loop that fills aggregated roles. */
  readonly roleAggregation: string;
  /** All other loops. */
  readonly loops: string;
  /** The server, which makes the objects that every cluster has. */
  readonly server: string;
  /** The server, for the default flow schemas and priority levels. */
  readonly flowDefaults: string;
  /** The server, for the conditions of flow schemas. */
  readonly flowConditions: string;
}

/** Injection token of the {@link VendorNames}. */
export const VENDOR_NAMES = Symbol('VendorNames');

export type Compatibility = '' | 'kubernetes';

/** The field managers where names are our own. */
export const ownManagers: FieldManagers = Object.freeze({
  scheduler: 'plinth',
  roleAggregation: 'plinth',
  loops: 'plinth',
  server: 'plinth',
  flowDefaults: 'plinth',
  flowConditions: 'plinth',
});

/** The name of the API's own Service inside a cluster, which is the same for every vendor. */
const defaultTokenIssuer = 'https://kubernetes.default.svc';

/** Clients request this type whatever the server's vendor. */
const upstreamProtobuf = 'application/vnd.kubernetes.protobuf';

/** The suffix that existing clients need. */
export const upstreamSuffix = 'k8s.io';

/** Every schema may have these markers. */
export const upstreamMarkers = 'x-kubernetes-';

/** The upstream spellings. */
const upstreamNames: VendorNames = Object.freeze({
  suffix: 'k8s.io',
  systemNamespace: 'kube-system',
  publicNamespace: 'kube-public',
  nodeLeaseNamespace: 'kube-node-lease',
  markerPrefix: upstreamMarkers,
  protobufMediaType: upstreamProtobuf,
  protobufMediaTypes: Object.freeze([upstreamProtobuf]),
  signerPrefix: 'kubernetes.io',
  bootstrapTokenSecretType: 'bootstrap.kubernetes.io/token',
  serviceAccountTokenSecretType: 'kubernetes.io/service-account-token',
  serviceAccountNameAnnotation: 'kubernetes.io/service-account.name',
  serviceAccountUidAnnotation: 'kubernetes.io/service-account.uid',
  serviceAccountMountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  tokenVolumePrefix: 'kube-api-access-',
  rootAuthorityMap: 'kube-root-ca.crt',
  defaultTokenIssuer,
  tokenClaim: 'kubernetes.io',
  secretTokenIssuer: 'kubernetes/serviceaccount',
  credentialPrefix: 'authentication.kubernetes.io',
  secretTypePrefix: 'kubernetes.io',
  labelPrefix: 'kubernetes.io',
  lastAppliedAnnotation: 'kubectl.kubernetes.io/last-applied-configuration',
  clusterInfoKey: 'secret',
  namespaceFinalizer: 'kubernetes',
  nodeAgent: { word: 'kubelet', prose: 'kubelet' },
  apiserverClientSigner: 'kubernetes.io/kube-apiserver-client',
  nodeClientSigner: 'kubernetes.io/kube-apiserver-client-kubelet',
  nodeServingSigner: 'kubernetes.io/kubelet-serving',
  legacyUnknownSigner: 'kubernetes.io/legacy-unknown',
  fieldManagers: {
    scheduler: 'kube-scheduler',
    roleAggregation: 'clusterrole-aggregation-controller',
    loops: 'kube-controller-manager',
    server: 'kube-apiserver',
    flowDefaults: 'api-priority-and-fairness-config-producer-v1',
    flowConditions: 'api-priority-and-fairness-config-consumer-v1',
  },
});

/**
 * The names for a `--vendor` suffix. With `kubernetes` compatibility, they use the upstream spellings, whatever the
 * suffix.
 */
export function vendorNames(vendor: string, compatibility: Compatibility = ''): VendorNames {
  return compatibility === 'kubernetes' ? upstreamNames : ownNames(vendor);
}

function ownNames(vendor: string): VendorNames {
  // kubectl writes these keys and types, and libraries in pods read this folder, so the default suffix keeps their spelling.
  const clientPrefix = vendor === 'k8s.io' ? 'kubernetes.io' : vendor;
  const protobufMediaType = `application/vnd.${vendor}.protobuf`;
  return Object.freeze({
    suffix: vendor,
    systemNamespace: 'control-system',
    publicNamespace: 'control-public',
    nodeLeaseNamespace: 'control-node-lease',
    markerPrefix: `x-${vendor}-`,
    protobufMediaType,
    protobufMediaTypes: Object.freeze(
      vendor === 'k8s.io' ? [upstreamProtobuf, protobufMediaType] : [protobufMediaType, upstreamProtobuf],
    ),
    signerPrefix: vendor,
    bootstrapTokenSecretType: `bootstrap.${vendor}/token`,
    serviceAccountTokenSecretType: `${vendor}/service-account-token`,
    serviceAccountNameAnnotation: `${vendor}/service-account.name`,
    serviceAccountUidAnnotation: `${vendor}/service-account.uid`,
    serviceAccountMountPath: `/var/run/secrets/${clientPrefix}/serviceaccount`,
    tokenVolumePrefix: 'control-api-access-',
    rootAuthorityMap: 'control-root-ca.crt',
    defaultTokenIssuer,
    tokenClaim: clientPrefix,
    secretTokenIssuer: vendor === 'k8s.io' ? 'kubernetes/serviceaccount' : `${vendor}/serviceaccount`,
    credentialPrefix: `authentication.${clientPrefix}`,
    secretTypePrefix: clientPrefix,
    labelPrefix: clientPrefix,
    lastAppliedAnnotation: `kubectl.${clientPrefix}/last-applied-configuration`,
    clusterInfoKey: 'token',
    namespaceFinalizer: 'kubernetes',
    nodeAgent: { word: 'nodeagent', prose: 'node agent' },
    apiserverClientSigner: `${vendor}/apiserver-client`,
    nodeClientSigner: `${vendor}/apiserver-client-nodeagent`,
    nodeServingSigner: `${vendor}/nodeagent-serving`,
    legacyUnknownSigner: `${vendor}/legacy-unknown`,
    fieldManagers: ownManagers,
  });
}

const unsuffixedGroups: ReadonlySet<string> = new Set(['', 'apps', 'batch', 'autoscaling', 'policy', 'extensions']);

const longGroupNames: Readonly<Record<string, string>> = {
  rbac: 'rbac.authorization',
  flowcontrol: 'flowcontrol.apiserver',
  internal: 'internal.apiserver',
  core: '',
};

/** The served name of a group from its short name in the declarations: `networking` -> `networking.<suffix>`. */
export function groupName(short: string, names: VendorNames): string {
  const long = longGroupNames[short] ?? short;
  return unsuffixedGroups.has(long) ? long : `${long}.${names.suffix}`;
}
