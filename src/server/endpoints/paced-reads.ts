import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { PartyQueue } from '../../base/machinery/party-queue.js';
import { followPieces } from './body-pieces.js';
import type { NoteCut } from './connection-cuts.js';

/*
 * Node reads up to 2 MiB from one connection in one turn of the event loop, and begins all that is in it. HTTP/2 needs a
 * byte for a field that was sent before, and HTTP/1.1 has no limit for requests that are sent ahead. So one client could
 * hold up all others for a second.
 */

/** How much clients may send in a turn of the event loop. A unit is up to a microsecond of work: a field of a head. */
export interface ReadLimits {
  /** A connection that brings more is read again in a later turn. */
  readonly connectionUnits: number;
  /** When a client address brings more, all its connections are read again in later turns. */
  readonly clientUnits: number;
  /** An HTTP/2 connection that brings more is closed; over HTTP/1.1, as many cannot come in one read. */
  readonly mostFields: number;
  /**
   * Heads with more fields than this, requests that are sent too far ahead, and small pieces of bodies delay their
   * connections.
   */
  readonly usualFields: number;
  /** For how long each field above delays the next read, in milliseconds. */
  readonly delayMs: number;
  /** Requests of an HTTP/1.1 connection that may be under way. It is not read meanwhile. */
  readonly sentAhead: number;
}

const usualLimits: ReadLimits = {
  connectionUnits: 512,
  clientUnits: 8_192,
  mostFields: 25_000,
  usualFields: 64,
  delayMs: 0.01,
  sentAhead: 32,
};
/** What a request costs besides its fields. */
const requestUnits = 16;
/** What a request costs that is sent too far ahead of the answers, in fields. */
const sentAheadUnits = usualLimits.usualFields + 25;
/** What a piece of a body costs. */
const pieceUnits = 4;
/** Of a connection with another protocol: a read may bring thousands of its frames. */
const bytesOfUnit = 16;
/** Clients that write a body piece by piece write more at once. */
const smallBytes = 64;
/** Connections that are read again in one turn bring about this much together. */
const turnUnits = 4_096;
/** The least that a connection is expected to bring when it is read again. */
const leastUnits = 64;

/** The part of a socket by which Node's own HTTP servers pause it. It has no other that HTTP/2 leaves. */
interface Reading {
  readonly reading?: boolean;
  readStop?(): number;
  readStart?(): number;
}

interface Client {
  readonly address: string;
  readonly connections: Set<Connection>;
  /** Connections that are read again one by one, as soon as what this client has sent is paid for. */
  readonly delayed: Set<Connection>;
  /** Connections that were never read, which come before those. */
  readonly fresh: Set<Connection>;
  /** Until when, by `performance.now()`. */
  paidAt: number;
  timer: NodeJS.Timeout | undefined;
  turn: number;
  units: number;
}

interface Connection {
  readonly socket: Socket;
  readonly client: Client;
  turn: number;
  units: number;
  /** Fields among the units. */
  fields: number;
  /** HTTP/1.1 requests without a complete answer. */
  unanswered: number;
  isStopped: boolean;
  /** Whether it is in one of the lines of connections that are read again. */
  isWaiting: boolean;
  /** Whether its last read brought unusually many fields. */
  isCrowded: boolean;
}

/**
 * Bounds what connections bring in each turn of the event loop, by not reading on: a connection that brings much is read
 * again in a later turn, with client addresses taking turns. Heads with unusually many fields, and small pieces of bodies, delay the next read of
 * such connections, and the first of new ones, so that one client address cannot take more than a part of the processor time.
 */
export class PacedReads {
  private readonly clients = new Map<string, Client>();
  private readonly connections = new WeakMap<Socket, Connection>();
  private readonly next = new PartyQueue<Connection>();
  /** The turn of a connection that brought nothing is 0. */
  private turn = 1;
  private isTurnCounted = false;

  constructor(
    private readonly note: NoteCut = () => undefined,
    private readonly limits = usualLimits,
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
      if (socket.destroyed) return;
      const connection = this.keep(socket);
      session?.on('stream', (stream: ServerHttp2Stream, _headers, flags: number, raw: readonly string[]) => {
        this.broughtHead(connection, raw.length / 2, session);
        if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) return;
        stream.on('trailers', (_trailers, _flags, fields: readonly string[]) =>
          this.broughtHead(connection, fields.length / 2, session),
        );
        followPieces(stream, (bytes) => this.broughtPiece(connection, bytes));
      });
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.httpVersionMajor !== 1) return;
      const connection = this.connections.get(request.socket);
      if (connection === undefined) return;
      connection.unanswered++;
      response.once('close', () => this.answered(connection));
      this.broughtHead(connection, request.rawHeaders.length / 2);
      if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return;
      followPieces(request, (bytes) => {
        if (bytes > 0) this.broughtPiece(connection, bytes);
        else this.broughtHead(connection, request.rawTrailers.length / 2);
      });
    });
    server.on('upgrade', (_request, socket: Socket) => {
      const connection = this.connections.get(socket);
      if (connection === undefined) return;
      followPieces(socket, (bytes) => this.brought(connection, pieceUnits + bytes / bytesOfUnit, 0));
    });
  }

  /** Number of connections that are not read at the moment. */
  get stopped(): number {
    let count = 0;
    for (const { connections } of this.clients.values())
      for (const { isStopped } of connections) if (isStopped) count++;
    return count;
  }

  private keep(socket: Socket): Connection {
    const address = socket.remoteAddress ?? '';
    let client = this.clients.get(address);
    if (client === undefined) {
      client = {
        address,
        connections: new Set(),
        delayed: new Set(),
        fresh: new Set(),
        paidAt: 0,
        timer: undefined,
        turn: 0,
        units: 0,
      };
      this.clients.set(address, client);
    }
    const connection: Connection = {
      socket,
      client,
      turn: 0,
      units: 0,
      fields: 0,
      unanswered: 0,
      isStopped: false,
      isWaiting: false,
      isCrowded: client.paidAt > performance.now(),
    };
    client.connections.add(connection);
    this.connections.set(socket, connection);
    socket.once('close', () => this.leave(connection));
    if (connection.isCrowded) this.stop(connection);
    return connection;
  }

  private leave(connection: Connection): void {
    const { client } = connection;
    client.connections.delete(connection);
    client.delayed.delete(connection);
    client.fresh.delete(connection);
    this.next.remove(client.address, connection);
    this.forget(client);
  }

  /** What a client has to pay for is kept longer than its connections. */
  private forget(client: Client): void {
    if (client.connections.size > 0 || client.timer !== undefined) return;
    if (client.paidAt > performance.now()) this.awaitPayment(client);
    else this.clients.delete(client.address);
  }

  private broughtHead(connection: Connection, fields: number, session?: ServerHttp2Session): void {
    const { usualFields, sentAhead, mostFields } = this.limits;
    const ahead = connection.unanswered > sentAhead ? sentAheadUnits : 0;
    this.brought(connection, requestUnits + fields, fields - usualFields + ahead);
    connection.fields += fields;
    if (session !== undefined && connection.fields > mostFields) this.cut(session);
  }

  private broughtPiece(connection: Connection, bytes: number): void {
    this.brought(connection, pieceUnits, bytes < smallBytes ? pieceUnits : 0);
  }

  private brought(connection: Connection, units: number, unusual: number): void {
    this.countTurn();
    const { client } = connection;
    const { connectionUnits, clientUnits, delayMs, sentAhead } = this.limits;
    if (connection.turn !== this.turn) {
      Object.assign(connection, { turn: this.turn, units: 0, fields: 0, isCrowded: false });
    }
    if (client.turn !== this.turn) Object.assign(client, { turn: this.turn, units: 0 });
    connection.units += units;
    client.units += units;
    if (unusual > 0) {
      connection.isCrowded = true;
      client.paidAt = Math.max(client.paidAt, performance.now()) + unusual * delayMs;
    }
    if (connection.units > connectionUnits || connection.unanswered > sentAhead) this.stop(connection);
    if (client.units <= clientUnits) return;
    client.units = 0;
    for (const other of client.connections) this.stop(other);
  }

  private cut(session: ServerHttp2Session): void {
    if (session.destroyed) return;
    this.note('crowded-heads', { client: session.socket?.remoteAddress });
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }

  private stop(connection: Connection): void {
    if (!connection.isStopped) {
      connection.isStopped = true;
      handleOf(connection)?.readStop?.();
    }
    if (connection.isWaiting || connection.unanswered > this.limits.sentAhead) return;
    connection.isWaiting = true;
    const { client } = connection;
    if (connection.isCrowded && client.paidAt > performance.now()) {
      (connection.turn === 0 ? client.fresh : client.delayed).add(connection);
      this.awaitPayment(client);
      return;
    }
    this.countTurn();
    this.next.add(client.address, connection);
  }

  private awaitPayment(client: Client): void {
    client.timer ??= setTimeout(
      () => {
        client.timer = undefined;
        const line = client.fresh.size > 0 ? client.fresh : client.delayed;
        const [first] = line;
        if (first !== undefined && client.paidAt <= performance.now()) {
          line.delete(first);
          this.countTurn();
          this.next.add(client.address, first);
        }
        if (client.fresh.size + client.delayed.size > 0) this.awaitPayment(client);
        else this.forget(client);
      },
      Math.max(1, client.paidAt - performance.now()),
    ).unref();
  }

  private answered(connection: Connection): void {
    connection.unanswered--;
    if (connection.isStopped && connection.unanswered === this.limits.sentAhead >> 1) this.stop(connection);
  }

  private countTurn(): void {
    if (this.isTurnCounted) return;
    this.isTurnCounted = true;
    setImmediate(() => this.nextTurn());
  }

  private nextTurn(): void {
    this.isTurnCounted = false;
    this.turn++;
    for (let left = turnUnits; left > 0; ) {
      const connection = this.next.take()?.item;
      if (connection === undefined) return;
      connection.isWaiting = false;
      if (connection.unanswered > this.limits.sentAhead) continue;
      left -= Math.max(leastUnits, connection.units);
      connection.isStopped = false;
      // Node itself may have paused it, and will then go on itself.
      const handle = handleOf(connection);
      if (handle?.reading !== false) handle?.readStart?.();
    }
    this.countTurn();
  }
}

/** Undefined when the connection is closed. */
function handleOf({ socket }: Connection): Reading | undefined {
  return (socket as Socket & { _handle?: Reading | null })._handle ?? undefined;
}
