import { type IncomingMessage, request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { ClientTls } from './client-config.js';
import type { ClientCredentials } from './client-credentials.js';
import { connectionReason } from './connection-reason.js';
import type { DeniedAddresses } from './denied-addresses.js';
import { GuardedAgent } from './https-connections.js';

/** A node agent that could not be asked. The message is that of the connection. */
export class NodeAgentFault extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'NodeAgentFault';
  }
}

export interface NodeAgentSettings {
  /** Certificates to use; without authorities whoever answers is believed. */
  readonly credentials: ClientCredentials;
  /** How long an agent may take to begin its answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly denied: DeniedAddresses;
}

/** Asks the agents of nodes. Connections are kept and shared; addresses that are denied are never connected to. */
export class NodeAgentClient {
  private tls: ClientTls | undefined;
  private agent: GuardedAgent | undefined;
  private unverified: GuardedAgent | undefined;

  constructor(private readonly settings: NodeAgentSettings) {}

  /**
   * Sends a GET and resolves with the beginning of the answer, whatever its status; the caller reads or destroys it. Ends
   * with the signal.
   *
   * @param skipVerify believes whoever answers
   */
  async get(url: URL, skipVerify: boolean, signal: AbortSignal): Promise<IncomingMessage> {
    await this.refresh();
    const agent = skipVerify ? this.unverified : this.agent;
    const late = new AbortController();
    const { timeoutMs } = this.settings;
    const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        const options: Parameters<typeof request>[1] = { agent, headers: { 'user-agent': 'plinth' }, signal };
        const sent = httpsRequest(url, options, resolve);
        late.signal.addEventListener('abort', () => sent.destroy(late.signal.reason as Error), { once: true });
        sent.on('error', reject);
        sent.on('upgrade', (_response, socket) => {
          socket.destroy();
          reject(new Error('the node agent changes the protocol'));
        });
        sent.end();
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new NodeAgentFault(connectionReason(error as Error), error);
    } finally {
      clearTimeout(timer);
    }
  }

  stop(): void {
    this.agent?.destroy();
    this.unverified?.destroy();
  }

  /** Uses certificates that changed in their files for new connections. */
  private async refresh(): Promise<void> {
    const tls = await this.settings.credentials.tls();
    if (tls === this.tls) return;
    this.tls = tls;
    for (const agent of [this.agent, this.unverified]) if (agent !== undefined) agent.maxFreeSockets = 0;
    const { denied } = this.settings;
    this.agent = new GuardedAgent(tls, { denied });
    this.unverified = new GuardedAgent({ ...tls, ca: undefined, insecureSkipVerify: true }, { denied });
  }
}
