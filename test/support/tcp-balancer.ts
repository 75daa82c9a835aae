import { once } from 'node:events';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';

const checkEveryMs = 100;

/**
 * A virtual IP: connections are distributed in turn to the backends that report ready. Open connections stay with their
 * backend, whatever it reports.
 */
export class TcpBalancer {
  private readonly sockets = new Set<Socket>();
  private ready: readonly number[] = [];
  private next = 0;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  private constructor(
    private readonly listener: Server,
    private readonly ports: readonly number[],
    private readonly isReady: (port: number) => Promise<boolean>,
  ) {
    listener.on('connection', (socket) => this.accept(socket));
  }

  /** @param isReady whether the backend on a port takes connections; a rejection means no */
  static async start(ports: readonly number[], isReady: (port: number) => Promise<boolean>): Promise<TcpBalancer> {
    const listener = createServer();
    const balancer = new TcpBalancer(listener, ports, isReady);
    await balancer.check();
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return balancer;
  }

  get port(): number {
    return (this.listener.address() as { port: number }).port;
  }

  /** The ports of backends that were ready at the last check. */
  get readyPorts(): readonly number[] {
    return this.ready;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    const closed = once(this.listener, 'close');
    this.listener.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async check(): Promise<void> {
    const answers = await Promise.all(this.ports.map((port) => this.isReady(port).catch(() => false)));
    this.ready = this.ports.filter((_, i) => answers[i]);
    if (!this.stopped) this.timer = setTimeout(() => void this.check(), checkEveryMs);
  }

  private accept(client: Socket): void {
    const port = this.ready[this.next++ % Math.max(1, this.ready.length)];
    if (port === undefined) {
      client.destroy();
      return;
    }
    const server = dial(port, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }
}
