/**
 * Every spelling that depends on the vendor (`docs/specification.md`, Notation). No other file spells one.
 */
export interface VendorNames {
  /** Suffix of the group names that carry one, e.g. `networking.<suffix>`. */
  readonly suffix: string;
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  readonly protobufMediaType: string;
  /** Every spelling of it that is understood: the one that messages name first, always with upstream's. */
  readonly protobufMediaTypes: readonly string[];
  /** Prefix of built-in signer names, without the slash. */
  readonly signerPrefix: string;
  readonly bootstrapTokenSecretType: string;
  readonly serviceAccountTokenSecretType: string;
  readonly serviceAccountNameAnnotation: string;
  readonly serviceAccountUidAnnotation: string;
  readonly serviceAccountMountPath: string;
  /** ConfigMap of every namespace with the authorities of the API's certificate. */
  readonly rootAuthorityMap: string;
  /** Issuer of service account tokens, and so their audience, unless options name another one. */
  readonly defaultTokenIssuer: string;
  /** Claim of a service account token that says which account it is for and what it is bound to. */
  readonly tokenClaim: string;
  /** Issuer of the tokens kept in secrets; their claims start with `<tokenClaim>/serviceaccount/`. */
  readonly secretTokenIssuer: string;
  /** Prefix of the extra fields of a user that tell about the credential, e.g. `<prefix>/pod-name`. */
  readonly credentialPrefix: string;
  /** Secret types of the core group that have required keys: prefix of `dockercfg`, `basic-auth`, `tls`, ... */
  readonly secretTypePrefix: string;
  /** Prefix of well-known labels and annotations, e.g. `<prefix>/metadata.name`. */
  readonly labelPrefix: string;
  /** Annotation in which the command-line client records what it applied last. */
  readonly lastAppliedAnnotation: string;
  /** The finalizer every namespace starts with. */
  readonly namespaceFinalizer: string;
  /** The agent of a node in messages, in one word and in prose. */
  readonly nodeAgent: { readonly word: string; readonly prose: string };
  /** Node agent's name in signer names: `<signerPrefix>/<nodeClientSigner>`. */
  readonly apiserverClientSigner: string;
  readonly nodeClientSigner: string;
  readonly nodeServingSigner: string;
  readonly legacyUnknownSigner: string;
}

/** Injection token of the {@link VendorNames}. */
export const VENDOR_NAMES = Symbol('VendorNames');

export type Compatibility = '' | 'kubernetes';

/** The name of the API's own Service inside a cluster, which is the same for every vendor. */
const defaultTokenIssuer = 'https://kubernetes.default.svc';

/** Clients ask for it whatever the server's vendor is. */
const upstreamProtobuf = 'application/vnd.kubernetes.protobuf';

/**
 * The names for a `--vendor` suffix; `kubernetes` compatibility swaps in the upstream spellings, whatever the suffix.
 */
export function vendorNames(vendor: string, compatibility: Compatibility = ''): VendorNames {
  if (compatibility === 'kubernetes') {
    return Object.freeze({
      suffix: 'k8s.io',
      systemNamespace: 'kube-system',
      publicNamespace: 'kube-public',
      nodeLeaseNamespace: 'kube-node-lease',
      protobufMediaType: upstreamProtobuf,
      protobufMediaTypes: Object.freeze([upstreamProtobuf]),
      signerPrefix: 'kubernetes.io',
      bootstrapTokenSecretType: 'bootstrap.kubernetes.io/token',
      serviceAccountTokenSecretType: 'kubernetes.io/service-account-token',
      serviceAccountNameAnnotation: 'kubernetes.io/service-account.name',
      serviceAccountUidAnnotation: 'kubernetes.io/service-account.uid',
      serviceAccountMountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
      rootAuthorityMap: 'kube-root-ca.crt',
      defaultTokenIssuer,
      tokenClaim: 'kubernetes.io',
      secretTokenIssuer: 'kubernetes/serviceaccount',
      credentialPrefix: 'authentication.kubernetes.io',
      secretTypePrefix: 'kubernetes.io',
      labelPrefix: 'kubernetes.io',
      lastAppliedAnnotation: 'kubectl.kubernetes.io/last-applied-configuration',
      namespaceFinalizer: 'kubernetes',
      nodeAgent: { word: 'kubelet', prose: 'kubelet' },
      apiserverClientSigner: 'kubernetes.io/kube-apiserver-client',
      nodeClientSigner: 'kubernetes.io/kube-apiserver-client-kubelet',
      nodeServingSigner: 'kubernetes.io/kubelet-serving',
      legacyUnknownSigner: 'kubernetes.io/legacy-unknown',
    });
  }
  // kubectl itself writes these keys and types for the default suffix, so they keep the spelling it uses.
  const clientPrefix = vendor === 'k8s.io' ? 'kubernetes.io' : vendor;
  const protobufMediaType = `application/vnd.${vendor}.protobuf`;
  return Object.freeze({
    suffix: vendor,
    systemNamespace: 'control-system',
    publicNamespace: 'control-public',
    nodeLeaseNamespace: 'control-node-lease',
    protobufMediaType,
    protobufMediaTypes: Object.freeze(
      vendor === 'k8s.io' ? [upstreamProtobuf, protobufMediaType] : [protobufMediaType, upstreamProtobuf],
    ),
    signerPrefix: vendor,
    bootstrapTokenSecretType: `bootstrap.${vendor}/token`,
    serviceAccountTokenSecretType: `${vendor}/service-account-token`,
    serviceAccountNameAnnotation: `${vendor}/service-account.name`,
    serviceAccountUidAnnotation: `${vendor}/service-account.uid`,
    serviceAccountMountPath: `/var/run/secrets/${vendor}/serviceaccount`,
    rootAuthorityMap: 'control-root-ca.crt',
    defaultTokenIssuer,
    tokenClaim: clientPrefix,
    secretTokenIssuer: vendor === 'k8s.io' ? 'kubernetes/serviceaccount' : `${vendor}/serviceaccount`,
    credentialPrefix: `authentication.${clientPrefix}`,
    secretTypePrefix: clientPrefix,
    labelPrefix: clientPrefix,
    lastAppliedAnnotation: `kubectl.${clientPrefix}/last-applied-configuration`,
    namespaceFinalizer: 'kubernetes',
    nodeAgent: { word: 'nodeagent', prose: 'node agent' },
    apiserverClientSigner: `${vendor}/apiserver-client`,
    nodeClientSigner: `${vendor}/apiserver-client-nodeagent`,
    nodeServingSigner: `${vendor}/nodeagent-serving`,
    legacyUnknownSigner: `${vendor}/legacy-unknown`,
  });
}

const unsuffixedGroups: ReadonlySet<string> = new Set(['', 'apps', 'batch', 'autoscaling', 'policy', 'extensions']);

const longGroupNames: Readonly<Record<string, string>> = {
  rbac: 'rbac.authorization',
  flowcontrol: 'flowcontrol.apiserver',
  core: '',
};

/** The served name of a group from its short name in the declarations: `networking` -> `networking.<suffix>`. */
export function groupName(short: string, names: VendorNames): string {
  const long = longGroupNames[short] ?? short;
  return unsuffixedGroups.has(long) ? long : `${long}.${names.suffix}`;
}
