import { BlockList, isIPv6 } from 'node:net';
import { errorCode } from '../../base/machinery/startup-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { DnsMetrics } from './dns-metrics.js';
import type { Transport } from './forward/forwarder.js';
import { ClientBudgets } from './server/client-budgets.js';
import type { NodeAddresses } from './server/node-addresses.js';
import type { QueryHandler } from './server/query-handler.js';
import { TcpListener } from './server/tcp-listener.js';
import { UdpListener } from './server/udp-listener.js';

export interface DnsServerOptions {
  readonly addresses: readonly string[];
  /** 0: any free port, the same for all addresses and both protocols. */
  readonly port: number;
  /** Ranges of clients that may send queries. */
  readonly clients: readonly string[];
  /** Other clients that may send queries; undefined, and no ranges: everybody may. */
  readonly nodes: NodeAddresses | undefined;
  /** The most queries of one client per second; 0: no limit. */
  readonly queriesPerSecond: number;
}

const tcpLimits = { mostConnections: 1_000, mostOfClient: 50, idleMs: 10_000 };
const mostClients = 65_536;
const mostAttempts = 10;

/** Listens for queries over UDP and TCP, and enforces the limits of clients. */
export class DnsServer {
  private readonly listeners: { stop(): Promise<void> }[] = [];
  private readonly budgets: ClientBudgets;
  private readonly allowed: BlockList | undefined;
  private listeningPort = 0;

  constructor(
    private readonly options: DnsServerOptions,
    private readonly handler: QueryHandler,
    private readonly metrics: DnsMetrics,
    timers: Timers,
  ) {
    const perSecond = options.queriesPerSecond;
    this.budgets = new ClientBudgets({ perSecond, mostClients, elapsed: () => timers.elapsed() });
    const isOpen = options.clients.length === 0 && options.nodes === undefined;
    this.allowed = isOpen ? undefined : listOf(options.clients);
  }

  get port(): number {
    return this.listeningPort;
  }

  /** @throws Error when it can't listen on all addresses */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.listen();
      } catch (error) {
        // The free port that was found for UDP may be in use for TCP.
        const mayDiffer = this.options.port === 0 && errorCode(error) === 'EADDRINUSE' && attempt < mostAttempts;
        if (!mayDiffer) throw error;
      }
    }
  }

  private async listen(): Promise<void> {
    this.listeningPort = this.options.port;
    try {
      for (const address of this.options.addresses) {
        const udp = await UdpListener.start(address, this.listeningPort, (...query) => this.take('udp', ...query));
        this.listeners.push(udp);
        this.listeningPort = udp.port;
        const answer = (message: Buffer, client: string) => this.take('tcp', message, client);
        this.listeners.push(await TcpListener.start(address, this.listeningPort, tcpLimits, answer));
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.listeners.splice(0).map((listener) => listener.stop()));
  }

  private mayAsk(client: string): boolean {
    if (this.allowed === undefined || this.options.nodes?.has(client) === true) return true;
    return this.allowed.check(client, isIPv6(client) ? 'ipv6' : 'ipv4');
  }

  private take(transport: Transport, message: Buffer, client: string): ReturnType<QueryHandler['handle']> {
    if (!this.mayAsk(client)) {
      this.metrics.dropped.inc({ reason: 'foreign-client' });
      return undefined;
    }
    if (!this.budgets.take(client)) {
      this.metrics.dropped.inc({ reason: 'too-many' });
      return undefined;
    }
    const answer = this.handler.handle(message, { client, transport, server: `dns://:${this.listeningPort}` });
    const counted = (bytes: Buffer | undefined) => {
      if (bytes !== undefined) this.budgets.answered(client, bytes.length);
      return bytes;
    };
    return answer instanceof Promise ? answer.then(counted) : counted(answer);
  }
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix = ''] = range.split('/');
    list.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  return list;
}
