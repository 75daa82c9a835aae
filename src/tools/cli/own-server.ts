import { readFile } from 'node:fs/promises';
import type { ParsedOptions } from '../../base/config/parse-options.js';
import type { controllerOptionGroups, ServerOptions, serverOptionGroups } from '../../base/config/server-options.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { formatKubeconfig, localUrl } from './kubeconfig.js';
import type { NodePki } from './pki/node-pki.js';
import type { Pki } from './pki/pki.js';
import { proxyOptions } from './pki/proxy-options.js';
import { ensureServiceAccountKey } from './pki/service-account-key.js';

/*
 * A server of one machine, which brings its own certificates, authorities and keys. Flags of the user take precedence.
 */

/** The requested options. */
export type OwnServerFlags = ParsedOptions<typeof serverOptionGroups & typeof controllerOptionGroups>;

/** The options of the server with its own certificates. */
export function completeOptions(
  {
    events: _events,
    nodeLoops: _nodeLoops,
    nodeIpam: _nodeIpam,
    autoscaler: _autoscaler,
    controllers: _controllers,
    ...parsed
  }: OwnServerFlags,
  given: ReadonlySet<string>,
  own: { readonly pki: Pki; readonly databaseUrl: string; readonly simulatedNodes: number },
): ServerOptions {
  const { pki, databaseUrl, simulatedNodes } = own;
  const { tlsCertFile, tlsPrivateKeyFile } = parsed.secureServing;
  const ownTls = { tlsCertFile: pki.serving.certificateFile, tlsPrivateKeyFile: pki.serving.privateKeyFile };
  const tls =
    tlsCertFile === undefined || tlsPrivateKeyFile === undefined ? ownTls : { tlsCertFile, tlsPrivateKeyFile };
  const clientCaFile = given.has('client-ca-file') ? parsed.authentication.clientCaFile : pki.authorityFile;
  // Flags about the authority or the headers of proxies turn off the defaults for both.
  const bringsProxies = [...given].some((flag) => flag.startsWith('requestheader-'));
  const proxies = bringsProxies ? {} : proxyOptions(pki.proxyAuthorityFile);
  const bringsCertificate = bringsProxies || parsed.aggregation.proxyClientCertFile !== undefined;
  const { certificateFile: proxyClientCertFile, privateKeyFile: proxyClientKeyFile } = pki.proxy;
  return {
    ...parsed,
    aggregation: bringsCertificate ? parsed.aggregation : { proxyClientCertFile, proxyClientKeyFile },
    ...(simulatedNodes > 0 ? nodeRules(parsed, given) : {}),
    secureServing: { ...parsed.secureServing, ...tls },
    storage: { ...parsed.storage, databaseUrl },
    authentication: { ...parsed.authentication, ...proxies, clientCaFile },
  };
}

/**
 * Serves what nodes measure, which `kubectl top`, autoscalers and the console need, unless a key of the user says otherwise.
 */
export function withUsage<T extends Pick<OwnServerFlags, 'cluster'>>(flags: T): T {
  const { cluster } = flags;
  // The API that this mode repeats does not have the group.
  if (cluster.compat !== '') return flags;
  const usage = `metrics.${vendorNames(cluster.vendor).suffix}/v1beta1`;
  return { ...flags, cluster: { ...cluster, runtimeConfig: [usage, ...cluster.runtimeConfig] } };
}

/** Nodes have the rights that nodes of a real cluster have, unless the user chose other rules. */
function nodeRules(
  { authorization, admission }: Pick<OwnServerFlags, 'authorization' | 'admission'>,
  given: ReadonlySet<string>,
): Pick<OwnServerFlags, 'authorization' | 'admission'> {
  const { enableAdmissionPlugins, disableAdmissionPlugins } = admission;
  const plugin = 'NodeRestriction';
  const isChosen = enableAdmissionPlugins.includes(plugin) || disableAdmissionPlugins.includes(plugin);
  return {
    authorization:
      given.has('authorization-mode') || given.has('authorization-config')
        ? authorization
        : { ...authorization, authorizationMode: ['Node', 'RBAC'] },
    admission: isChosen ? admission : { ...admission, enableAdmissionPlugins: [...enableAdmissionPlugins, plugin] },
  };
}

/**
 * Options that let the server reach the simulated nodes, or else real ones that trust its authority, unless the user
 * brings certificates.
 */
export function withNodeAgents(
  options: ServerOptions,
  given: ReadonlySet<string>,
  { pki, nodePki }: { readonly pki: Pki; readonly nodePki: NodePki | undefined },
): ServerOptions {
  if (given.has('kubelet-client-certificate') || given.has('kubelet-certificate-authority')) {
    return options;
  }
  const { nodeAgents } = options;
  if (nodePki === undefined) {
    const { certificateFile: kubeletClientCertificate, privateKeyFile: kubeletClientKey } = pki.nodeAgentClient;
    return { ...options, nodeAgents: { ...nodeAgents, kubeletClientCertificate, kubeletClientKey } };
  }
  return {
    ...options,
    nodeAgents: {
      ...nodeAgents,
      kubeletClientCertificate: nodePki.clientFiles.certificateFile,
      kubeletClientKey: nodePki.clientFiles.privateKeyFile,
      kubeletCertificateAuthority: nodePki.authorityFile,
      kubeletPreferredAddressTypes: given.has('kubelet-preferred-address-types')
        ? nodeAgents.kubeletPreferredAddressTypes
        : ['InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS', 'Hostname'],
    },
  };
}

/** Requests and tokens are signed with our own authority and key unless the user brings others. */
export function withLoopFiles(
  options: OwnServerFlags['controllers'],
  given: ReadonlySet<string>,
  { authentication, secureServing }: ServerOptions,
  { authorityFile, authorityKeyFile, servingAuthorityFile }: Pki,
): OwnServerFlags['controllers'] {
  const signing = given.has('cluster-signing-cert-file')
    ? {}
    : { clusterSigningCertFile: authorityFile, clusterSigningKeyFile: authorityKeyFile };
  return {
    ...options,
    ...signing,
    serviceAccountPrivateKeyFile: options.serviceAccountPrivateKeyFile ?? authentication.serviceAccountSigningKeyFile,
    rootCaFile: options.rootCaFile ?? (given.has('tls-cert-file') ? secureServing.tlsCertFile : servingAuthorityFile),
  };
}

/**
 * Options that let service accounts obtain tokens without further flags. A user who brings keys replaces this default.
 */
export async function withTokenKey(options: ServerOptions, directory: string): Promise<ServerOptions> {
  const { authentication } = options;
  const { serviceAccountKeyFile, serviceAccountSigningKeyFile } = authentication;
  if (serviceAccountSigningKeyFile !== undefined || serviceAccountKeyFile.length > 0) return options;
  const file = await ensureServiceAccountKey(directory);
  return { ...options, authentication: { ...authentication, serviceAccountSigningKeyFile: file } };
}

/** The certificate that clients check the serving certificate with. */
export async function authorityOf(
  { secureServing }: ServerOptions,
  given: ReadonlySet<string>,
  pki: Pki,
): Promise<string> {
  // A certificate of the user's own is trusted by itself: we do not know who signed it.
  return given.has('tls-cert-file') ? readFile(secureServing.tlsCertFile, 'utf8') : pki.servingAuthority;
}

/** The kubeconfig of the administrator; without credentials if users are checked with another authority. */
export function kubeconfigText({ secureServing, authentication }: ServerOptions, authority: string, pki: Pki): string {
  return formatKubeconfig({
    server: localUrl(secureServing.bindAddress, secureServing.securePort),
    authority,
    client: authentication.clientCaFile === pki.authorityFile ? pki.admin : undefined,
  });
}
