import { connectionReason } from './connection-reason.js';
import type { DeniedAddresses } from './denied-addresses.js';
import { type Exchange, type ExchangeAnswer, exchange } from './exchange.js';
import { GuardedAgent, GuardedPlainAgent, type Target } from './https-connections.js';
import { ProxyFault } from './proxy-fault.js';
import { Unsent } from './unsent.js';

const connectLimitMs = 10_000;

/**
 * Connections to the servers in pods and on nodes that clients reach through this one. These servers' certificates
 * can't be verified, and they are never sent this server's own. Addresses that are denied are never connected to.
 */
export class ProxyConnections {
  private readonly plain: GuardedPlainAgent;
  private readonly encrypted: GuardedAgent;

  constructor(readonly denied: DeniedAddresses) {
    this.plain = new GuardedPlainAgent({ denied });
    const tls = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, insecureSkipVerify: true };
    this.encrypted = new GuardedAgent(tls, { denied, maxSockets: Number.POSITIVE_INFINITY });
  }

  /**
   * Sends a request and resolves with the beginning of the response, whatever its status.
   *
   * @throws ProxyFault; the reason of the signal when it is aborted
   */
  async ask(
    target: Target,
    isEncrypted: boolean,
    call: Omit<Exchange, 'agent' | 'connectLimitMs' | 'host' | 'port'>,
  ): Promise<ExchangeAnswer> {
    const agent = isEncrypted ? this.encrypted : this.plain;
    try {
      return await exchange({ ...call, ...target, agent, connectLimitMs });
    } catch (error) {
      call.signal.throwIfAborted();
      const reason = error instanceof Unsent ? error.reason : (error as Error);
      throw new ProxyFault(connectionReason(reason), { cause: reason });
    }
  }

  stop(): void {
    this.plain.destroy();
    this.encrypted.destroy();
  }
}
