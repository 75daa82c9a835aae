import type { Pki } from './pki.js';
import { proxyHeaders } from './proxy-options.js';

/** Flags by name, in the order of a command line. */
export type CommandFlags = readonly (readonly [name: string, value: string])[];

/** How `plinth serve` and `plinth controllers` use the files of a folder of certificates. */
export interface ControlPlaneFlags {
  readonly serve: CommandFlags;
  readonly controllers: CommandFlags;
}

const authorizationMode = 'Node,RBAC';

/** @param tokenKey path of the key that signs the tokens of service accounts */
export function controlPlaneFlags(pki: Pki, tokenKey: string): ControlPlaneFlags {
  return { serve: serveFlags(pki, tokenKey), controllers: controllersFlags(pki, tokenKey) };
}

function serveFlags(pki: Pki, tokenKey: string): CommandFlags {
  return [
    ['tls-cert-file', pki.serving.certificateFile],
    ['tls-private-key-file', pki.serving.privateKeyFile],
    ['client-ca-file', pki.authorityFile],
    ['service-account-signing-key-file', tokenKey],
    ['requestheader-client-ca-file', pki.proxyAuthorityFile],
    ['requestheader-allowed-names', proxyHeaders.requestheaderAllowedNames.join()],
    ['requestheader-username-headers', proxyHeaders.requestheaderUsernameHeaders.join()],
    ['requestheader-group-headers', proxyHeaders.requestheaderGroupHeaders.join()],
    ['requestheader-extra-headers-prefix', proxyHeaders.requestheaderExtraHeadersPrefix.join()],
    ...proxyFlags(pki),
    ['kubelet-client-certificate', pki.nodeAgentClient.certificateFile],
    ['kubelet-client-key', pki.nodeAgentClient.privateKeyFile],
    // Without these, anyone who reaches the port may do everything. The admin kubeconfig belongs to system:masters.
    ['authorization-mode', authorizationMode],
    ['enable-admission-plugins', 'NodeRestriction'],
  ];
}

function controllersFlags(pki: Pki, tokenKey: string): CommandFlags {
  return [
    ['cluster-signing-cert-file', pki.authorityFile],
    ['cluster-signing-key-file', pki.authorityKeyFile],
    ['service-account-private-key-file', tokenKey],
    ['root-ca-file', pki.servingAuthorityFile],
    ...proxyFlags(pki),
    // By default the loop that approves certificates of nodes lets every request pass.
    ['authorization-mode', authorizationMode],
  ];
}

function proxyFlags({ proxy }: Pki): CommandFlags {
  return [
    ['proxy-client-cert-file', proxy.certificateFile],
    ['proxy-client-key-file', proxy.privateKeyFile],
  ];
}
