import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { ClientTls } from '../../base/outgoing/client-config.js';
import { tlsOptions } from '../../base/outgoing/tls-options.js';

/** The most streams on one connection at a time, when the server allows so many. */
const mostStreams = 200;
/**
 * How often a connection is tested, and how long the response to a ping, the TLS handshake, or the end of a closed
 * connection may take, in milliseconds.
 */
const pingMs = 15_000;

interface Connection {
  readonly session: ClientHttp2Session;
  /** Undefined before the handshake. */
  socket: Socket | undefined;
  streams: number;
  isLeaving: boolean;
}

/** HTTP/2 connections to one server, made as needed and shared by all requests. */
export class Http2Connections {
  private readonly open = new Set<Connection>();
  private isStopped = false;

  /**
   * @param server an https URL
   * @param testMs see {@link pingMs}
   */
  constructor(
    private readonly server: string,
    private tls: ClientTls,
    private readonly testMs = pingMs,
  ) {}

  /** How many connections there are. */
  get size(): number {
    return this.open.size;
  }

  /**
   * Begins a request. The stream fails when the connection does.
   *
   * @param hasBody whether the caller writes a body and ends it
   */
  request(headers: OutgoingHttpHeaders, hasBody: boolean, signal: AbortSignal): ClientHttp2Stream {
    const connection = this.choose();
    const stream = connection.session.request(headers, { endStream: !hasBody, signal });
    connection.streams += 1;
    stream.once('close', () => {
      connection.streams -= 1;
      if (connection.isLeaving && connection.streams === 0) connection.session.close();
    });
    return stream;
  }

  /** Uses these certificates for new connections; the present ones end with their last request. */
  renewTls(tls: ClientTls): void {
    this.tls = tls;
    for (const connection of this.open) {
      connection.isLeaving = true;
      if (connection.streams === 0) connection.session.close();
    }
  }

  /** Closes all connections and with them all requests. */
  stop(): void {
    this.isStopped = true;
    for (const { session, socket } of this.open) {
      session.destroy();
      // A session that had ended before waits for the server to end the connection.
      socket?.destroy();
    }
  }

  private choose(): Connection {
    for (const connection of this.open) {
      const { session, streams, isLeaving } = connection;
      const most = Math.min(mostStreams, session.remoteSettings?.maxConcurrentStreams ?? mostStreams);
      if (!isLeaving && streams < most && !session.closed && !session.destroyed) return connection;
    }
    return this.connect();
  }

  private connect(): Connection {
    if (this.isStopped) throw new Error('the connections are closed');
    const session = connect(this.server, tlsOptions(this.tls));
    const connection: Connection = { session, socket: undefined, streams: 0, isLeaving: false };
    this.open.add(connection);
    // Faults reach every request that is under way.
    session.on('error', () => undefined);
    session.once('connect', (_, socket) => {
      connection.socket = socket;
    });
    session.on('goaway', () => {
      connection.isLeaving = true;
    });
    const tests = setInterval(() => this.test(connection), this.testMs);
    session.once('close', () => {
      clearInterval(tests);
      this.open.delete(connection);
    });
    return connection;
  }

  /**
   * Detects by a ping that the server has gone without closing the connection. Closes connections whose handshake
   * doesn't end, and those whose session has ended: Node waits without limit for the server to close them.
   */
  private test({ session, socket }: Connection): void {
    if (session.destroyed) {
      socket?.destroy();
      return;
    }
    if (session.connecting) {
      session.destroy(new Error('the server did not complete the TLS handshake in time'));
      return;
    }
    const late = setTimeout(
      () => session.destroy(new Error('the server does not answer'), constants.NGHTTP2_NO_ERROR),
      this.testMs,
    );
    // The timer does no harm to a connection that was closed meanwhile.
    late.unref();
    try {
      session.ping(() => clearTimeout(late));
    } catch {
      clearTimeout(late);
    }
  }
}
