import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Target } from '../rules/endpoint-view.js';
import type { ConnectionForwarder, ForwarderPlace } from './forwarder.js';
import type { TargetChoice } from './target-choice.js';

/** The time limit for connecting to an endpoint, after which the next one is tried. */
const connectMs = 5_000;

/** Forwards TCP connections. Open connections continue when their endpoint is removed from the service. */
export class TcpForwarder implements ConnectionForwarder {
  private readonly clients = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly choice: TargetChoice,
  ) {
    server.on('connection', (client) => void this.forward(client));
  }

  /** @throws Error when it can't listen */
  static async start({ address, port }: ForwarderPlace, choice: TargetChoice): Promise<TcpForwarder> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const forwarder = new TcpForwarder(server, choice);
    server.listen({ host: address, port, ipv6Only: address.includes(':') });
    await once(server, 'listening');
    return forwarder;
  }

  use(targets: readonly Target[], affinitySeconds: number): void {
    this.choice.use(targets, affinitySeconds);
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const client of this.clients) client.destroy();
    await closed;
  }

  private async forward(client: Socket): Promise<void> {
    this.clients.add(client);
    client.once('close', () => this.clients.delete(client));
    client.on('error', () => client.destroy());
    const from = client.remoteAddress ?? '';
    for (const target of this.choice.forClient(from)) {
      const server = await open(target);
      if (server === undefined) continue;
      this.choice.remember(from, target);
      join(client, server);
      return;
    }
    client.destroy();
  }
}

/** Undefined when the endpoint does not respond. */
function open({ address, port }: Target): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, timeout: connectMs });
    const fail = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once('error', fail);
    socket.once('timeout', fail);
    socket.once('connect', () => {
      socket.removeListener('error', fail);
      socket.removeListener('timeout', fail);
      socket.setTimeout(0);
      resolve(socket);
    });
  });
}

function join(client: Socket, server: Socket): void {
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy());
    one.once('close', () => other.destroySoon());
    one.pipe(other);
  }
}
