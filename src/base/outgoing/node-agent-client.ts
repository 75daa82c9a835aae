import type { IncomingMessage } from 'node:http';
import type { ClientTls } from './client-config.js';
import type { ClientCredentials } from './client-credentials.js';
import { connectionReason } from './connection-reason.js';
import type { DeniedAddresses } from './denied-addresses.js';
import { type Exchange, type ExchangeAnswer, exchange } from './exchange.js';
import { ExchangeFault } from './exchange-fault.js';
import { GuardedAgent, type Target } from './https-connections.js';
import { NodeAgentFault } from './node-agent-fault.js';
import { Unsent } from './unsent.js';

/** Marks in `Via` that this program has sent a request to a node agent. */
const pseudonym = 'plinth-to-node-agent';

/**
 * Whether a request is one that this program meant for a node agent, by its header field `Via` (RFC 9110 section
 * 7.6.3). If a node claims that its agent is at an address of this program, requests for the agent would otherwise be
 * executed here with this program's own certificate.
 */
export function isForNodeAgent(via: string | undefined): boolean {
  return via?.includes(pseudonym) === true;
}

export interface NodeAgentSettings {
  /** Certificates to use; without a CA any server is trusted. */
  readonly credentials: ClientCredentials;
  /** How long connecting to an agent may take, in milliseconds, and how long the agent may take to begin a log. */
  readonly timeoutMs: number;
  readonly denied: DeniedAddresses;
}

/** One request to an agent. */
export interface NodeAgentCall extends Omit<Exchange, 'agent' | 'connectLimitMs' | 'host' | 'port'> {
  /** Trusts any server. */
  readonly skipVerify?: boolean;
}

/** Calls the agents of nodes. Connections are kept and shared; addresses that are denied are never connected to. */
export class NodeAgentClient {
  private tls: ClientTls | undefined;
  private agent: GuardedAgent | undefined;
  private unverified: GuardedAgent | undefined;

  constructor(private readonly settings: NodeAgentSettings) {}

  /**
   * Sends a GET and resolves with the beginning of the response, whatever its status; the caller reads or destroys it.
   * Aborted by the signal.
   *
   * @param path with the query
   * @param skipVerify trusts any server
   * @throws NodeAgentFault; the reason of the signal when it is aborted
   */
  async get(target: Target, path: string, skipVerify: boolean, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = { 'user-agent': 'plinth', host: hostAndPort(target) };
    const headLimitMs = this.settings.timeoutMs;
    const { response } = await this.ask(target, { method: 'GET', path, headers, signal, headLimitMs, skipVerify });
    return response;
  }

  /**
   * Sends a request and resolves with the beginning of the response, whatever its status.
   *
   * @throws NodeAgentFault; the reason of the signal when it is aborted
   */
  async ask(target: Target, { skipVerify = false, ...call }: NodeAgentCall): Promise<ExchangeAnswer> {
    const { timeoutMs } = this.settings;
    const headers = { ...call.headers, via: [...[call.headers.via ?? []].flat(), `1.1 ${pseudonym}`].join(', ') };
    await this.refresh();
    const agent = (skipVerify ? this.unverified : this.agent) as GuardedAgent;
    try {
      return await exchange({ ...call, headers, ...target, agent, connectLimitMs: timeoutMs });
    } catch (error) {
      call.signal.throwIfAborted();
      const reason = error instanceof Unsent ? error.reason : (error as Error);
      const isLate = reason instanceof ExchangeFault && reason.message.startsWith('timeout awaiting');
      throw new NodeAgentFault(isLate ? `no answer within ${call.headLimitMs} ms` : connectionReason(reason), reason);
    }
  }

  stop(): void {
    this.agent?.destroy();
    this.unverified?.destroy();
  }

  /** If certificates changed in their files, uses them for new connections. */
  private async refresh(): Promise<void> {
    const tls = await this.settings.credentials.tls();
    if (tls === this.tls) return;
    this.tls = tls;
    for (const agent of [this.agent, this.unverified]) if (agent !== undefined) agent.maxFreeSockets = 0;
    const { denied } = this.settings;
    // Seats already limit the streams; with a connection limit, readers of logs would wait for each other.
    const settings = { denied, maxSockets: Number.POSITIVE_INFINITY };
    this.agent = new GuardedAgent(tls, settings);
    this.unverified = new GuardedAgent({ ...tls, ca: undefined, insecureSkipVerify: true }, settings);
  }
}

/** Host and port in the form of a URL. */
export function hostAndPort({ host, port }: Target): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
