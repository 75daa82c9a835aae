import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { withLength } from '../forward/exchange.js';
import { MessagePieces } from './message-pieces.js';
import type { MessageHandler } from './udp-listener.js';

export interface TcpLimits {
  /** The most connections. */
  readonly mostConnections: number;
  /** The most connections of one client. */
  readonly mostOfClient: number;
  /** A connection is closed after this time without a whole query. */
  readonly idleMs: number;
}

/** The most queries of one connection that are answered at the same time; further ones are not read. */
const mostAtOnce = 16;
/** The most unread bytes of responses; with more, the connection is closed. */
const mostUnreadBytes = 512 * 1024;

/** Serves queries over TCP at one address. */
export class TcpListener {
  /** The connections with their clients. The one that has been without a query for longest is the first. */
  private readonly sockets = new Map<Socket, string>();
  private readonly clients = new Map<string, number>();

  private constructor(
    private readonly server: Server,
    private readonly limits: TcpLimits,
    private readonly handle: MessageHandler,
  ) {}

  /** @throws Error when it can't listen */
  static async start(address: string, port: number, limits: TcpLimits, handle: MessageHandler): Promise<TcpListener> {
    const server = createServer({ noDelay: true });
    const listener = new TcpListener(server, limits, handle);
    server.on('connection', (socket) => listener.accept(socket));
    server.listen({ host: address, port, ipv6Only: address.includes(':') });
    await once(server, 'listening');
    server.on('error', () => undefined);
    return listener;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets.keys()) socket.destroy();
    await closed;
  }

  private accept(socket: Socket): void {
    const client = plainAddress(socket.remoteAddress ?? '');
    const own = this.clients.get(client) ?? 0;
    socket.on('error', () => socket.destroy());
    if (own >= this.limits.mostOfClient) {
      socket.destroy();
      return;
    }
    // Connections that ask nothing must not keep others out.
    const [idlest] = this.sockets.keys();
    if (this.sockets.size >= this.limits.mostConnections && idlest !== undefined) {
      this.leave(idlest);
      idlest.destroy();
    }
    this.sockets.set(socket, client);
    this.clients.set(client, own + 1);
    const idle = setTimeout(() => socket.destroy(), this.limits.idleMs);
    socket.once('close', () => {
      clearTimeout(idle);
      this.leave(socket);
    });
    void this.serve(socket, client, idle).catch(() => socket.destroy());
  }

  private leave(socket: Socket): void {
    const client = this.sockets.get(socket);
    if (client === undefined) return;
    this.sockets.delete(socket);
    const left = (this.clients.get(client) ?? 1) - 1;
    if (left === 0) this.clients.delete(client);
    else this.clients.set(client, left);
  }

  /** @param idle ends the connection unless it is refreshed */
  private async serve(socket: Socket, client: string, idle: NodeJS.Timeout): Promise<void> {
    const messages = new MessagePieces();
    const underWay = new Set<Promise<void>>();
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      messages.add(chunk);
      for (let message = messages.take(); message !== undefined; message = messages.take()) {
        if (this.sockets.delete(socket)) this.sockets.set(socket, client);
        idle.refresh();
        const work = this.answer(socket, message, client).finally(() => {
          idle.refresh();
          underWay.delete(work);
        });
        underWay.add(work);
        if (underWay.size >= mostAtOnce) await Promise.race(underWay);
        if (socket.destroyed) return;
      }
    }
    await Promise.all(underWay);
    socket.end();
  }

  private async answer(socket: Socket, message: Buffer, client: string): Promise<void> {
    const answer = await this.handle(message, client);
    if (socket.destroyed) return;
    if (answer === undefined || socket.writableLength > mostUnreadBytes) socket.destroy();
    else socket.write(withLength(answer));
  }
}

function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
