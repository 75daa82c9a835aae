import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Compatibility, type VendorNames, vendorNames } from '../../../../base/machinery/vendor.js';
import type { ApiAccess } from '../../../../base/outgoing/api-access.js';
import type { JoinRequest } from './join-request.js';

/** The files of a node that has joined, in a folder that only root reads. */
export class NodeFiles {
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  readonly authority: string;
  /** Folder of the certificates of the node, which its agent renews. */
  readonly certificates: string;
  /** The KubeletConfiguration that the cluster has for its nodes. */
  readonly configuration: string;

  constructor(folder: string) {
    this.kubeconfig = join(folder, 'kubelet.kubeconfig');
    this.bootstrapKubeconfig = join(folder, 'bootstrap.kubeconfig');
    this.authority = join(folder, 'ca.crt');
    this.certificates = join(folder, 'pki');
    this.configuration = join(folder, 'kubelet-config.yaml');
  }

  /** The flags of the node agent. */
  agentFlags({ nodeName, options }: JoinRequest, names: VendorNames): readonly string[] {
    const isUpstream = names.publicNamespace === vendorNames(names.suffix, 'kubernetes').publicNamespace;
    const compat: Compatibility = isUpstream ? 'kubernetes' : '';
    const flags = {
      kubeconfig: this.kubeconfig,
      // The file is gone by now, but shows that the agent renews its certificate.
      'bootstrap-kubeconfig': this.bootstrapKubeconfig,
      'cert-dir': this.certificates,
      'hostname-override': nodeName,
      'container-runtime-endpoint': options.criSocket,
      vendor: names.suffix,
      compat,
      ...(existsSync(this.authority) ? { 'client-ca-file': this.authority } : {}),
      ...(existsSync(this.configuration) ? { config: this.configuration } : securedByFlags),
    };
    return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  }
}

/** The defaults of a configuration file. */
const securedByFlags = {
  'anonymous-auth': 'false',
  'authentication-token-webhook': 'true',
  'authorization-mode': 'Webhook',
};

/** A kubeconfig with which a node asks for its certificate. */
export async function bootstrapKubeconfig({ server, present }: ApiAccess): Promise<string> {
  const encode = (pem: string) => Buffer.from(pem).toString('base64');
  const { tls, authorization } = await present();
  const token = authorization?.replace(/^Bearer /, '');
  const authority = tls.ca === undefined ? {} : { 'certificate-authority-data': encode(tls.ca) };
  const own =
    tls.cert === undefined || tls.key === undefined
      ? {}
      : { 'client-certificate-data': encode(tls.cert), 'client-key-data': encode(tls.key) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster: { server, ...authority } }],
    users: [{ name: 'bootstrapper', user: token === undefined ? own : { token } }],
    contexts: [{ name: 'bootstrap', context: { cluster: 'cluster', user: 'bootstrapper' } }],
    'current-context': 'bootstrap',
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
