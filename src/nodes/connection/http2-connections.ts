import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { ClientTls } from '../../base/outgoing/client-config.js';
import { tlsOptions } from '../../base/outgoing/tls-options.js';

/** The most streams on one connection at a time, when the server allows so many. */
const mostStreams = 200;
/** How often a connection is tested, and how long the response to a ping may take, in milliseconds. */
const pingMs = 15_000;

interface Connection {
  readonly session: ClientHttp2Session;
  streams: number;
  isLeaving: boolean;
}

/** HTTP/2 connections to one server, made as needed and shared by all requests. */
export class Http2Connections {
  private readonly open = new Set<Connection>();
  private isStopped = false;

  /** @param server an https URL */
  constructor(
    private readonly server: string,
    private tls: ClientTls,
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
    for (const { session } of this.open) session.destroy();
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
    const connection: Connection = { session, streams: 0, isLeaving: false };
    this.open.add(connection);
    // Faults reach every request that is under way.
    session.on('error', () => undefined);
    session.on('goaway', () => {
      connection.isLeaving = true;
    });
    const tests = setInterval(() => this.test(session), pingMs);
    session.once('close', () => {
      clearInterval(tests);
      this.open.delete(connection);
    });
    return connection;
  }

  /** Detects by a ping that the server has gone without closing the connection. */
  private test(session: ClientHttp2Session): void {
    if (session.destroyed || session.connecting) return;
    const late = setTimeout(
      () => session.destroy(new Error('the server does not answer'), constants.NGHTTP2_NO_ERROR),
      pingMs,
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
