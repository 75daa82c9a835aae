import type { ServerResponse } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import { Server as NetServer, type Socket } from 'node:net';

/** How long what is open gets when a server stops. */
export interface DrainLimits {
  /** Idle HTTP/1.1 connections are kept this long: a request may be on its way, and its answer says `close`. */
  readonly lingerMs: number;
  /** Requests under way are cut after this time. */
  readonly requestsMs: number;
  /** Ended watches whose clients don't take the last bytes are cut after this time, once no request is under way. */
  readonly watchesMs: number;
  /** How many requests, watches left out, are under way. */
  readonly requestsUnderWay: () => number;
}

const stepMs = 20;
/** Longer than clients keep idle connections, so that it is they who close. */
const idleMs = 180_000;

/**
 * Knows the open connections of a listener, so that a stop can end them in good order. States: open, then draining from
 * the call of {@link drain} on.
 */
export class ConnectionTracker {
  private readonly sessions = new Set<ServerHttp2Session>();
  /** TCP connections, from before their TLS handshake on. */
  private readonly connections = new Set<Socket>();
  /** TLS sockets of those that completed it. */
  private readonly sockets = new Set<Socket>();
  private draining = false;

  /** Answers on HTTP/1.1 connections have to say `Connection: close` from now on. */
  get isDraining(): boolean {
    return this.draining;
  }

  watch(server: Http2SecureServer): void {
    server.on('connection', (socket: Socket) => keep(this.connections, socket));
    server.on('secureConnection', (socket: Socket) => keep(this.sockets, socket));
    server.on('session', (session: ServerHttp2Session) => {
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
      // Nothing of it was begun: its client is told that it may safely try elsewhere.
      if (this.draining) session.close();
      closeWhenIdle(session);
    });
  }

  /**
   * Stops accepting and resolves when all connections are gone. HTTP/2 clients get a GOAWAY that names the last request
   * that is still answered, so that they repeat others elsewhere. HTTP/1.1 connections end with their next answer.
   */
  async drain(server: Http2SecureServer, limits: DrainLimits): Promise<void> {
    this.draining = true;
    // Only the listening ends: the server's own close would also cut idle connections, between two requests.
    NetServer.prototype.close.call(server);
    for (const session of this.sessions) session.close();
    for (const socket of this.sockets) announceClose(socket);
    const began = performance.now();
    for (;;) {
      const elapsed = performance.now() - began;
      if (this.connections.size === 0 || elapsed >= limits.requestsMs) break;
      if (elapsed >= limits.watchesMs && limits.requestsUnderWay() === 0) break;
      // Idle keep-alive connections never end by themselves.
      if (elapsed >= limits.lingerMs) for (const socket of this.sockets) if (isIdle(socket)) socket.destroy();
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    }
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
    for (const socket of this.connections) socket.destroy();
  }
}

/** A connection on which nothing happens while no request is open ends; clients are told by a GOAWAY, and lose nothing. */
function closeWhenIdle(session: ServerHttp2Session): void {
  let open = 0;
  session.on('stream', (stream) => {
    open++;
    stream.once('close', () => open--);
  });
  session.setTimeout(idleMs, () => {
    if (open === 0) session.close();
  });
}

function keep(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
}

/** What Node's HTTP/1.1 server keeps on a socket; both are missing on one that speaks HTTP/2. */
interface Http1Socket extends Socket {
  readonly parser?: unknown;
  /** The response under way. */
  readonly _httpMessage?: ServerResponse | null;
}

/** An HTTP/1.1 connection without a response under way. */
function isIdle(socket: Http1Socket): boolean {
  return socket.parser !== undefined && socket.parser !== null && (socket._httpMessage ?? null) === null;
}

/** The response under way ends its connection, unless its head is out already. */
function announceClose({ _httpMessage: response }: Http1Socket): void {
  if (response != null && !response.headersSent) response.setHeader('connection', 'close');
}
