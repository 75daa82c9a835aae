import type { Server } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';

/** Knows the open connections of a listener, so that a stop can end them in good order. */
export class ConnectionTracker {
  private readonly sessions = new Set<ServerHttp2Session>();
  private readonly sockets = new Set<Socket>();

  watch(server: Http2SecureServer | Server): void {
    server.on('session', (session: ServerHttp2Session) => {
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
    });
    server.on('secureConnection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /**
   * Runs `close` (which stops accepting), asks HTTP/2 clients to leave, and resolves when all connections are gone. What
   * is still open after `patienceMs` is cut.
   */
  async drain(patienceMs: number, close: () => Promise<void>): Promise<void> {
    const closed = close();
    for (const session of this.sessions) session.close();
    const deadline = performance.now() + patienceMs;
    const step = 20;
    // Idle keep-alive connections never end by themselves; busy ones get their time.
    while (this.sockets.size > 0 && performance.now() < deadline) {
      for (const socket of this.sockets) if (isIdle(socket)) socket.destroy();
      await new Promise((resolve) => setTimeout(resolve, step));
    }
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}

/** An HTTP/1.1 connection without a response under way. */
function isIdle(socket: Socket): boolean {
  const http1 = socket as Socket & { _httpMessage?: unknown; parser?: unknown };
  return http1.parser !== undefined && http1.parser !== null && (http1._httpMessage ?? null) === null;
}
