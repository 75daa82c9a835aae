import { createServer, connect as dial, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
}

/** A TCP proxy whose connections a test can freeze and cut. */
export class TcpProxy {
  private readonly listener: Server;
  private targetPort: number;
  private readonly pairs = new Set<Pair>();
  private answersHeld = false;
  private requestsHeld = false;
  private refusing = false;

  private constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.listener = createServer((client) => this.accept(client));
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort);
    await new Promise<void>((resolve) => proxy.listener.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The URL with the proxy's port. */
  through(url: string): string {
    const proxied = new URL(url);
    proxied.port = String(this.port);
    return proxied.href;
  }

  /** Connects new clients to another port; existing connections stay (see `cut`). */
  moveTo(targetPort: number): void {
    this.targetPort = targetPort;
  }

  /** Holds the server's answers back, while requests still arrive there. Applies to present and later connections. */
  holdAnswers(): void {
    this.answersHeld = true;
    for (const { server } of this.pairs) server.pause();
  }

  /** Holds requests back, so that nothing more arrives at the server. */
  holdRequests(): void {
    this.requestsHeld = true;
    for (const { client } of this.pairs) client.pause();
  }

  /** Lets the data that is held back arrive. */
  release(): void {
    this.answersHeld = false;
    this.requestsHeld = false;
    for (const { client, server } of this.pairs) {
      client.resume();
      server.resume();
    }
  }

  /** Cuts every connection; data that is held back is lost. New connections work again unless `refuse` is set. */
  cut(refuse = false): void {
    this.answersHeld = false;
    this.requestsHeld = false;
    this.refusing = refuse;
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
    this.pairs.clear();
  }

  /** Cuts only one side of every connection; the other side stays open and is not notified. */
  cutSilently(side: 'client' | 'server'): void {
    for (const pair of this.pairs) {
      pair.client.removeAllListeners('close');
      pair.server.removeAllListeners('close');
      pair.client.pause();
      pair.server.pause();
      pair[side].destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut(true);
    await new Promise<void>((resolve) => this.listener.close(() => resolve()));
  }

  private accept(client: Socket): void {
    if (this.refusing) {
      client.destroy();
      return;
    }
    const server = dial(this.targetPort, '127.0.0.1');
    const pair = { client, server };
    this.pairs.add(pair);
    const end = (): void => {
      client.destroy();
      server.destroy();
      this.pairs.delete(pair);
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    client.on('data', (chunk) => server.write(chunk));
    server.on('data', (chunk) => client.write(chunk));
    if (this.requestsHeld) client.pause();
    if (this.answersHeld) server.pause();
  }
}
