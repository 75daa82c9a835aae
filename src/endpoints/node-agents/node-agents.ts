import type { NodeAddressKind, NodeAgentOptions } from '../../config/node-agent.options.js';
import type { Clock } from '../../machinery/clock.js';
import { errorText, StartupError } from '../../machinery/startup-error.js';
import { ClientConfigError, type ClientTls, checkClientTls } from '../../outgoing/client-config.js';
import { ClientCredentials } from '../../outgoing/client-credentials.js';
import { DeniedAddresses } from '../../outgoing/denied-addresses.js';
import { NodeAgentClient } from '../../outgoing/node-agent-client.js';
import type { ReadNode } from './read-objects.js';

/** The port of an agent whose node does not name one. */
const usualPort = 10_250;

/** The agents of nodes, and where they are. */
export class NodeAgents {
  constructor(
    readonly client: NodeAgentClient,
    private readonly addressTypes: readonly NodeAddressKind[],
  ) {}

  /** Host and port of a node's agent for a URL; undefined when the node names no usable address. */
  hostOf({ status }: ReadNode): string | undefined {
    const addresses = status?.addresses ?? [];
    for (const wanted of this.addressTypes) {
      const found = addresses.find(({ type, address }) => type === wanted && address !== '');
      if (found === undefined) continue;
      const port = status?.daemonEndpoints?.kubeletEndpoint?.Port || usualPort;
      return `${found.address.includes(':') ? `[${found.address}]` : found.address}:${port}`;
    }
    return undefined;
  }
}

/** @param read gives the content of a file
 * @throws StartupError when the certificates can't be used.
 */
export function buildNodeAgents(options: NodeAgentOptions, clock: Clock, read: (file: string) => string): NodeAgents {
  const {
    kubeletClientCertificate: cert,
    kubeletClientKey: key,
    kubeletCertificateAuthority: ca,
    kubeletTimeoutMs,
  } = options;
  try {
    const text = (file: string | undefined) => (file === undefined ? undefined : read(file));
    const tls: ClientTls = {
      ca: text(ca),
      cert: text(cert),
      key: text(key),
      serverName: undefined,
      insecureSkipVerify: ca === undefined,
    };
    checkClientTls(tls, (problem) => new ClientConfigError(problem));
    const credentials = new ClientCredentials({ tls, auth: { kind: 'none' }, files: { ca, cert, key } }, clock);
    const denied = new DeniedAddresses(options.kubeletDeniedCidrs);
    return new NodeAgents(
      new NodeAgentClient({ credentials, timeoutMs: kubeletTimeoutMs, denied }),
      options.kubeletPreferredAddressTypes,
    );
  } catch (error) {
    throw new StartupError(`the certificates for node agents can't be used: ${errorText(error)}`, { cause: error });
  }
}
