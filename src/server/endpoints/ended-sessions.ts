import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { NoteCut } from './connection-cuts.js';

/** How long a connection may stay open after its HTTP/2 session has ended. */
export interface EndedSessionLimits {
  /** After a session that was closed in order: the client may still read the end of its last response. */
  readonly closedMs: number;
  /** After a session that ended with an error. */
  readonly brokenMs: number;
  /** After the last stream of a session that is being closed, while its client has not read all bytes. */
  readonly unsentMs: number;
  readonly sweepMs: number;
}

const usualLimits: EndedSessionLimits = { closedMs: 30_000, brokenMs: 5_000, unsentMs: 120_000, sweepMs: 1_000 };

interface Watched {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  streams: number;
  endedAt: number | undefined;
}

/**
 * Closes the connections of HTTP/2 sessions that have ended. Node reads nothing more from such a connection. It waits
 * until the last bytes are written, and does not notice when the client is gone: a client that leaves its responses
 * unread and breaks the connection would cost a file descriptor and the memory of the responses for ever. A session that is
 * being closed doesn't end either before its last bytes are written.
 */
export class EndedSessions {
  private readonly watched = new Set<Watched>();
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits = usualLimits,
    private readonly elapsed: () => number = () => performance.now(),
    private readonly note: NoteCut = () => undefined,
  ) {}

  watch(server: Http2SecureServer): void {
    let begun: ServerHttp2Session | undefined;
    server.on('session', (session: ServerHttp2Session) => {
      begun = session;
    });
    // Node's own listener has run before this one. It begins the session of the socket, which alone has the real socket.
    server.on('secureConnection', (socket: Socket) => {
      const session = begun;
      begun = undefined;
      if (session !== undefined && !socket.destroyed) this.keep({ session, socket, streams: 0, endedAt: undefined });
    });
  }

  private keep(connection: Watched): void {
    this.watched.add(connection);
    connection.session.on('stream', (stream) => {
      connection.streams++;
      stream.once('close', () => connection.streams--);
    });
    connection.socket.once('close', () => {
      this.watched.delete(connection);
      if (this.watched.size > 0) return;
      clearInterval(this.sweeper);
      this.sweeper = undefined;
    });
    this.sweeper ??= setInterval(() => this.sweep(), this.limits.sweepMs).unref();
  }

  private sweep(): void {
    const now = this.elapsed();
    for (const connection of this.watched) {
      const { session, socket, streams } = connection;
      if (!session.destroyed && !(session.closed && streams === 0)) continue;
      connection.endedAt ??= now;
      const { closedMs, brokenMs, unsentMs } = this.limits;
      const patience = !session.destroyed ? unsentMs : session.closed ? closedMs : brokenMs;
      if (now - connection.endedAt < patience || socket.destroyed) continue;
      this.note('ended-session', { client: socket.remoteAddress });
      socket.destroy();
    }
  }
}
