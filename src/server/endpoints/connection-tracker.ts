import type { ServerResponse } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import { Server as NetServer, type Socket } from 'node:net';
import type { NoteCut } from './connection-cuts.js';

/** How long open connections and requests may last when a server stops. */
export interface DrainLimits {
  /**
   * Idle HTTP/1.1 connections are kept this long: a request may be on its way, and its response will contain
   * `Connection: close`.
   */
  readonly lingerMs: number;
  /** Requests still open after this time are cut. */
  readonly requestsMs: number;
  /** When no other request is open, ended watches whose clients don't read the last bytes are cut after this time. */
  readonly watchesMs: number;
  /** The number of open requests, excluding watches. */
  readonly requestsUnderWay: () => number;
  readonly noteCut?: NoteCut;
}

const stepMs = 20;
/** Longer than clients keep idle connections, so that the clients close them. */
const idleMs = 180_000;

/**
 * Tracks the open connections of a listener, so that a shutdown can end them in order. States: open, then draining once
 * {@link drain} is called.
 */
export class ConnectionTracker {
  private readonly sessions = new Set<ServerHttp2Session>();
  /** TCP connections, including those before their TLS handshake. */
  private readonly connections = new Set<Socket>();
  /** TLS sockets with a completed handshake. */
  private readonly sockets = new Set<Socket>();
  /** HTTP/1.1 connections that end with their next response. */
  private readonly leaving = new WeakSet<Socket>();
  private draining = false;

  /** Whether all connections are being ended; no long-running request may begin then. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** Whether the next response on an HTTP/1.1 connection must have `Connection: close`. */
  endsWithAnswer(socket: Socket): boolean {
    return this.draining || this.leaving.has(socket);
  }

  /**
   * Makes the connected clients reconnect, so that they spread over new processes: HTTP/2 connections close after their
   * open streams, HTTP/1.1 connections after their next response. Watches continue.
   */
  spread(): void {
    for (const socket of this.sockets) this.leaving.add(socket);
    for (const session of this.sessions) session.close();
  }

  watch(server: Http2SecureServer): void {
    server.on('connection', (socket: Socket) => keep(this.connections, socket));
    server.on('secureConnection', (socket: Socket) => keep(this.sockets, socket));
    server.on('session', (session: ServerHttp2Session) => {
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
      // The session has not begun any request, so its client learns that it can safely retry elsewhere.
      if (this.draining) session.close();
      closeWhenIdle(session);
    });
  }

  /**
   * Stops accepting connections and resolves when all are closed. HTTP/2 clients get a GOAWAY that names the last
   * request that is processed, so they repeat later ones elsewhere. HTTP/1.1 connections end with their next response.
   */
  async drain(server: Http2SecureServer, limits: DrainLimits): Promise<void> {
    this.draining = true;
    // Only stops listening: the server's own `close` would also cut idle connections between two requests.
    NetServer.prototype.close.call(server);
    for (const session of this.sessions) session.close();
    for (const socket of this.sockets) announceClose(socket);
    const began = performance.now();
    for (;;) {
      const elapsed = performance.now() - began;
      if (this.connections.size === 0 || elapsed >= limits.requestsMs) break;
      if (elapsed >= limits.watchesMs && limits.requestsUnderWay() === 0) break;
      // Idle keep-alive connections never end on their own.
      if (elapsed >= limits.lingerMs) for (const socket of this.sockets) if (isIdle(socket)) socket.destroy();
      await new Promise((resolve) => setTimeout(resolve, stepMs));
    }
    if (this.connections.size > 0) limits.noteCut?.('shutdown', { connections: this.connections.size });
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
    for (const socket of this.connections) socket.destroy();
  }
}

/**
 * Closes a connection that has been idle for a while, unless a request is open. Clients get a GOAWAY and lose nothing.
 */
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

/** The fields that Node's HTTP/1.1 server keeps on a socket; both are missing on an HTTP/2 socket. */
interface Http1Socket extends Socket {
  readonly parser?: unknown;
  /** The response in progress. */
  readonly _httpMessage?: ServerResponse | null;
}

/** Whether it is an HTTP/1.1 connection without a response in progress. */
function isIdle(socket: Http1Socket): boolean {
  return socket.parser !== undefined && socket.parser !== null && (socket._httpMessage ?? null) === null;
}

/** Makes the response in progress end its connection, unless its head was already sent. */
function announceClose({ _httpMessage: response }: Http1Socket): void {
  if (response != null && !response.headersSent) response.setHeader('connection', 'close');
}
