import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { CallbackTimers } from '../../../base/machinery/timers.js';
import type { Target } from '../rules/endpoint-view.js';
import type { ConnectionForwarder, ForwarderPlace } from './forwarder.js';
import type { TargetChoice } from './target-choice.js';

/** How long responses are awaited after the last packet of a client. */
const idleMs = 30_000;
/** The most clients of one port; a new one replaces the oldest. */
const mostFlows = 1_000;

interface Flow {
  readonly socket: Socket;
  readonly target: Target;
  forget: () => void;
}

/** Forwards UDP packets. Every client has its own socket to its endpoint, so responses find their way back. */
export class UdpForwarder implements ConnectionForwarder {
  private readonly flows = new Map<string, Flow>();

  private constructor(
    private readonly socket: Socket,
    private readonly choice: TargetChoice,
    private readonly timers: Pick<CallbackTimers, 'after'>,
  ) {
    socket.on('message', (message, from) => this.forward(message, from));
    socket.on('error', () => undefined);
  }

  /** @throws Error when it can't listen */
  static async start(
    { address, port }: ForwarderPlace,
    choice: TargetChoice,
    timers: Pick<CallbackTimers, 'after'>,
  ): Promise<UdpForwarder> {
    const isSix = address.includes(':');
    const socket = createSocket({ type: isSix ? 'udp6' : 'udp4', ipv6Only: isSix });
    socket.bind(port, address);
    await once(socket, 'listening');
    return new UdpForwarder(socket, choice, timers);
  }

  use(targets: readonly Target[], affinitySeconds: number): void {
    this.choice.use(targets, affinitySeconds);
    for (const [client, { target }] of this.flows) if (!this.choice.has(target)) this.end(client);
  }

  async stop(): Promise<void> {
    for (const client of [...this.flows.keys()]) this.end(client);
    const closed = once(this.socket, 'close');
    this.socket.close();
    await closed;
  }

  private forward(message: Buffer, from: RemoteInfo): void {
    const client = `${from.address} ${from.port}`;
    const flow = this.flows.get(client) ?? this.begin(client, from);
    if (flow === undefined) return;
    flow.forget();
    flow.forget = this.timers.after(idleMs, () => this.end(client));
    flow.socket.send(message, flow.target.port, flow.target.address, () => undefined);
  }

  private begin(client: string, from: RemoteInfo): Flow | undefined {
    const [target] = this.choice.forClient(from.address);
    if (target === undefined) return undefined;
    this.choice.remember(from.address, target);
    if (this.flows.size >= mostFlows) {
      const [oldest] = this.flows.keys();
      if (oldest !== undefined) this.end(oldest);
    }
    const socket = createSocket(target.address.includes(':') ? 'udp6' : 'udp4');
    socket.on('error', () => undefined);
    socket.on('message', (answer, { address, port }) => {
      const isTarget = address === target.address && port === target.port;
      if (isTarget) this.socket.send(answer, from.port, from.address, () => undefined);
    });
    const flow: Flow = { socket, target, forget: () => undefined };
    this.flows.set(client, flow);
    return flow;
  }

  private end(client: string): void {
    const flow = this.flows.get(client);
    if (flow === undefined) return;
    this.flows.delete(client);
    flow.forget();
    flow.socket.close();
  }
}
