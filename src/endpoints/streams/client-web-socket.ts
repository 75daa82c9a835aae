import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  acceptOf,
  closeCodes,
  closeFrame,
  frameHead,
  opcodes,
  WebSocketError,
  type WebSocketEvent,
  WebSocketReader,
} from '../../machinery/web-socket/web-socket-frames.js';
import { writeFully } from '../../machinery/web-socket/write-fully.js';
import type { Throttle } from '../remote/tunnel.js';
import { releaseSocket, type Upgrade } from '../web-sockets.js';

/** A client that sends pings without reading the pongs is cut at this many unread bytes. */
const maxUnreadPongs = 256 * 1024;
/** How long a client may take for the closing handshake. */
const closingMs = 5000;

export type MessagePiece = Extract<WebSocketEvent, { readonly type: 'data' }>;

/**
 * The client's end of a WebSocket whose messages are never collected: both directions go on piece by piece, at the pace
 * of the other side.
 */
export class ClientWebSocket {
  private readonly reader = new WebSocketReader();
  private isClosing = false;

  private constructor(
    private readonly socket: Duplex,
    private readonly early: Buffer,
    private readonly throttle: Throttle,
  ) {}

  /** Answers 101. The response can't be used after this. */
  static accept(response: ServerResponse, upgrade: Upgrade, protocol: string, throttle: Throttle): ClientWebSocket {
    const { socket, head } = releaseSocket(response);
    const lines = [
      'HTTP/1.1 101 Switching Protocols',
      'connection: Upgrade',
      'upgrade: websocket',
      `sec-websocket-accept: ${acceptOf(upgrade.request.headers['sec-websocket-key'] ?? '')}`,
      `sec-websocket-protocol: ${protocol}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return new ClientWebSocket(socket, head, throttle);
  }

  /** Pieces of messages, until the client closes or leaves. To be read to the end: leaving earlier cuts the client. */
  async *messages(): AsyncGenerator<MessagePiece, void, undefined> {
    try {
      if (this.early.length > 0) yield* this.piecesOf(this.early);
      for await (const chunk of this.socket) yield* this.piecesOf(chunk as Buffer);
    } catch {
      // The connection broke, which is an end like any other.
    }
  }

  private *piecesOf(chunk: Buffer): Generator<MessagePiece, void, undefined> {
    if (this.isClosing) return;
    try {
      yield* this.read(chunk);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.close(error.code, error.message);
    }
  }

  private *read(chunk: Buffer): Generator<MessagePiece, void, undefined> {
    for (const event of this.reader.read(chunk)) {
      switch (event.type) {
        case 'data':
          yield event;
          break;
        case 'ping':
          if (this.socket.writableLength > maxUnreadPongs) this.socket.destroy();
          else this.write(Buffer.concat([frameHead(opcodes.pong, event.bytes.length), event.bytes]));
          break;
        case 'close':
          this.close(closeCodes.normal, '');
          break;
      }
    }
  }

  /** Sends one binary message. Resolves when the client can take more, or has left. */
  async send(...parts: readonly Buffer[]): Promise<void> {
    if (this.isClosing) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.throttle !== undefined) await this.throttle(length);
    await writeFully(this.socket, [frameHead(opcodes.binary, length), ...parts]);
  }

  /** Begins the end, unless it has begun. */
  close(code: number, reason: string): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.write(closeFrame(code, reason));
    if (!this.socket.destroyed) this.socket.end();
    const late = setTimeout(() => this.socket.destroy(), closingMs);
    this.socket.once('close', () => clearTimeout(late));
    // What still comes is of no interest, but without being read the connection would not end.
    this.socket.resume();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private write(bytes: Buffer): void {
    if (!this.socket.destroyed && !this.socket.writableEnded) this.socket.write(bytes);
  }
}
