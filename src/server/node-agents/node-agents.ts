import { isIP } from 'node:net';
import type { NodeAddressKind, NodeAgentOptions } from '../../base/config/node-agent.options.js';
import type { Clock } from '../../base/machinery/clock.js';
import { errorText, StartupError } from '../../base/machinery/startup-error.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { type ClientTls, checkClientTls } from '../../base/outgoing/client-config.js';
import { ClientConfigError } from '../../base/outgoing/client-config-error.js';
import { ClientCredentials } from '../../base/outgoing/client-credentials.js';
import { DeniedAddresses } from '../../base/outgoing/denied-addresses.js';
import type { Target } from '../../base/outgoing/https-connections.js';
import { NodeAgentClient } from '../../base/outgoing/node-agent-client.js';
import type { ReadNode } from './read-node.js';

/** Default port of a node agent, for nodes that do not specify one. */
const usualPort = 10_250;

/** Connections to node agents, and their addresses. */
export class NodeAgents {
  constructor(
    readonly client: NodeAgentClient,
    private readonly addressTypes: readonly NodeAddressKind[],
  ) {}

  /** The address of a node's agent. Throws a 500 when the node has no usable address. */
  addressOf({ status }: ReadNode): Target {
    const addresses = status?.addresses ?? [];
    for (const wanted of this.addressTypes) {
      const found = addresses.find(({ type, address }) => type === wanted && isHost(address));
      if (found === undefined) continue;
      return { host: found.address, port: status?.daemonEndpoints?.kubeletEndpoint?.Port || usualPort };
    }
    throw new StatusError(
      '',
      `no preferred addresses found; known addresses: [${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`,
    );
  }
}

/** Whether a string is a host name or an IP address; a node's own status may contain anything. */
function isHost(text: string): boolean {
  return isIP(text) !== 0 || /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})$/.test(text);
}

/**
 * @param read returns the content of a file
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
