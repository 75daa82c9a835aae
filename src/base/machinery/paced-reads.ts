import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { constants, type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { followPieces } from './body-pieces.js';
import { type PacedSocket, type PaceLimits, ReadPace, unitsOf } from './read-pace.js';

/** How much clients may send in a turn of the event loop; a party is a client address. */
export interface ReadLimits extends PaceLimits {
  /** An HTTP/2 connection that brings more is closed; over HTTP/1.1, as many cannot come in one read. */
  readonly mostFields: number;
  /** Heads with more fields than this are unusual. */
  readonly usualFields: number;
  /** Requests of an HTTP/1.1 connection that may be under way. It is not read meanwhile. */
  readonly sentAhead: number;
}

const usualLimits: ReadLimits = {
  socketUnits: 512,
  partyUnits: 8_192,
  delayMs: 0.01,
  mostFields: 25_000,
  usualFields: 64,
  sentAhead: 32,
};
/** What a request costs besides its fields. */
const requestUnits = 16;
/** What a request costs that is sent too far ahead of the answers, in fields. */
const sentAheadUnits = usualLimits.usualFields + 25;
/** What a piece of a body costs besides its bytes. */
const pieceUnits = 4;
/** Of a connection with another protocol: a read may bring thousands of its frames. */
const bytesOfUnit = 16;
/** Most bodies are not longer. To follow their pieces would cost more than these, so their length counts. */
const shortBytes = 1024;
/** Clients that write a body piece by piece write more at once. */
const smallBytes = 64;

const ignore = () => undefined;

/**
 * Makes Node's server listen to the socket, as it does once anybody else has listened. Otherwise its parser reads from below
 * the socket, where a pause does not stop what one TLS read has brought: a server that is still sending an answer pauses at the
 * head of the next request, fails at the rest of a body longer than a TLS record, and closes the connection without an answer.
 */
function readByListeners(socket: Socket): void {
  socket.on('data', ignore);
  socket.off('data', ignore);
}

interface Connection {
  readonly paced: PacedSocket;
  /** Fields that came in one turn. */
  fields: number;
  fieldsTurn: number;
  /** HTTP/1.1 requests without a complete answer. */
  unanswered: number;
}

/**
 * Bounds what clients bring in each turn of the event loop. HTTP/2 needs a byte for a field that was sent before, a chunk
 * of a body can have one byte, and HTTP/1.1 has no limit for requests that are sent ahead.
 */
export class PacedReads {
  private readonly pace: ReadPace;
  private readonly connections = new WeakMap<Socket, Connection>();

  /** Listener for the end of a response over HTTP/1.1. */
  private readonly noteAnswer: (this: ServerResponse) => void;

  constructor(
    private readonly note: (reason: 'crowded-heads', fields: { readonly client: string | undefined }) => void = ignore,
    private readonly limits = usualLimits,
  ) {
    this.pace = new ReadPace(limits);
    const answered = (socket: Socket) => this.answered(socket);
    this.noteAnswer = function () {
      answered(this.req.socket);
    };
  }

  /** Must be called before the server listens. */
  watch(server: Server | Http2SecureServer): void {
    let begun: ServerHttp2Session | undefined;
    server.on('session', (session: ServerHttp2Session) => {
      begun = session;
    });
    // Node's own listener has run before this one. It begins the session of the socket, which alone has the real socket.
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      const session = begun;
      begun = undefined;
      if (socket.destroyed) return;
      const paced = this.pace.keep(socket, socket.remoteAddress ?? '');
      const connection: Connection = { paced, fields: 0, fieldsTurn: 0, unanswered: 0 };
      this.connections.set(socket, connection);
      if (session === undefined) readByListeners(socket);
      else this.watchSession(connection, session);
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.httpVersionMajor !== 1) return;
      const connection = this.connections.get(request.socket);
      if (connection !== undefined) this.watchRequest(connection, request, response);
    });
    server.on('upgrade', (_request, socket: Socket) => {
      const connection = this.connections.get(socket);
      if (connection === undefined) return;
      followPieces(socket, (bytes) => this.pace.brought(connection.paced, pieceUnits + bytes / bytesOfUnit));
    });
  }

  /** Number of connections that are not read at the moment. */
  get stopped(): number {
    return this.pace.stopped;
  }

  private watchSession(connection: Connection, session: ServerHttp2Session): void {
    const brought = (fields: number) => {
      this.broughtHead(connection, fields);
      if (connection.fields > this.limits.mostFields) this.cut(session);
    };
    session.on('stream', (stream: ServerHttp2Stream, _headers, flags: number, raw: readonly string[]) => {
      brought(raw.length / 2);
      if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) return;
      stream.on('trailers', (_trailers, _flags, fields: readonly string[]) => brought(fields.length / 2));
      followPieces(stream, (bytes) => this.broughtPiece(connection, bytes));
    });
  }

  private watchRequest(connection: Connection, request: IncomingMessage, response: ServerResponse): void {
    const { paced } = connection;
    const { sentAhead } = this.limits;
    connection.unanswered++;
    paced.isHeld ||= connection.unanswered > sentAhead;
    // A closure for each request would cost more than the look at the connection.
    response.on('close', this.noteAnswer);
    this.broughtHead(connection, request.rawHeaders.length / 2, paced.isHeld ? sentAheadUnits : 0);
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (coding === undefined && (length === undefined || Number(length) <= shortBytes)) {
      if (length !== undefined) this.pace.brought(paced, Number(length) / bytesOfUnit);
      return;
    }
    followPieces(request, (bytes) => {
      if (bytes > 0) this.broughtPiece(connection, bytes);
      else this.broughtHead(connection, request.rawTrailers.length / 2);
    });
  }

  private answered(socket: Socket): void {
    const connection = this.connections.get(socket);
    if (connection === undefined) return;
    connection.unanswered--;
    const { paced } = connection;
    if (paced.isHeld && connection.unanswered <= this.limits.sentAhead >> 1) this.pace.release(paced);
  }

  private broughtHead(connection: Connection, fields: number, ahead = 0): void {
    const { paced } = connection;
    this.pace.brought(paced, requestUnits + fields, fields - this.limits.usualFields + ahead);
    if (connection.fieldsTurn !== paced.turn) {
      connection.fieldsTurn = paced.turn;
      connection.fields = 0;
    }
    connection.fields += fields;
  }

  private broughtPiece({ paced }: Connection, bytes: number): void {
    this.pace.brought(paced, pieceUnits + unitsOf(bytes), bytes < smallBytes ? pieceUnits : 0);
  }

  private cut(session: ServerHttp2Session): void {
    if (session.destroyed) return;
    this.note('crowded-heads', { client: session.socket?.remoteAddress });
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  }
}
