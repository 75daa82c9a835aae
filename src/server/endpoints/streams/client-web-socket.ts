import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { closeCodes, WebSocketError } from '../../../base/machinery/web-socket/web-socket-error.js';
import {
  acceptOf,
  closeFrame,
  frameHead,
  opcodes,
  type WebSocketEvent,
  WebSocketReader,
} from '../../../base/machinery/web-socket/web-socket-frames.js';
import { writeFully } from '../../../base/machinery/web-socket/write-fully.js';
import type { Throttle } from '../remote/tunnel.js';
import { releaseSocket, type Upgrade } from '../web-sockets.js';

/** A client that sends pings without reading the pongs is disconnected at this many unread bytes. */
const maxUnreadPongs = 256 * 1024;
/** Time limit for the closing handshake, in milliseconds. */
const closingMs = 5000;
/** How often a client is pinged while nothing is read from it, in milliseconds: only writes reveal that it has left. */
const heldPingMs = 5000;
/** Clients that are being read get only one in this many pings. */
const quietPings = 4;

export type MessagePiece = Extract<WebSocketEvent, { readonly type: 'data' }>;

/**
 * The client's side of a WebSocket. Messages are never buffered as a whole: both directions are forwarded piece by
 * piece, at the pace of the receiver.
 */
export class ClientWebSocket {
  private readonly reader = new WebSocketReader();
  private isClosing = false;
  /** Whether reading from the client is paused because the other side accepts no more. */
  private isHeld = false;
  private pings = 0;

  private constructor(
    private readonly socket: Duplex,
    private readonly early: Buffer,
    private readonly throttle: Throttle,
  ) {
    const pings = setInterval(() => this.ping(), heldPingMs);
    socket.once('close', () => clearInterval(pings));
  }

  /** Responds with 101. The response can't be used after this. */
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

  /**
   * Yields pieces of messages, together if they arrived together, until the client closes or leaves. If the caller
   * stops reading earlier, the client is disconnected.
   */
  async *messages(): AsyncGenerator<readonly MessagePiece[], void, undefined> {
    try {
      yield await this.limited(this.piecesOf(this.early));
      for await (const chunk of this.socket) {
        const pieces = await this.limited(this.piecesOf(chunk as Buffer));
        this.isHeld = true;
        yield pieces;
        this.isHeld = false;
        // Yields to other work, since more bytes may arrive without a pause.
        await nextTurn();
      }
    } catch {
      // A broken connection counts as a normal end.
    }
  }

  private async limited(pieces: readonly MessagePiece[]): Promise<readonly MessagePiece[]> {
    if (this.throttle !== undefined && pieces.length > 0) await this.throttle(sizeOf(pieces.map(({ bytes }) => bytes)));
    return pieces;
  }

  private piecesOf(chunk: Buffer): MessagePiece[] {
    const pieces: MessagePiece[] = [];
    if (this.isClosing || chunk.length === 0) return pieces;
    let ping: Buffer | undefined;
    let end: WebSocketError | 'closed' | undefined;
    try {
      for (const event of this.reader.read(chunk)) {
        if (event.type === 'data') pieces.push(event);
        else if (event.type === 'ping') ping = event.bytes;
        else end = 'closed';
      }
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      end = error;
    }
    if (ping !== undefined) this.answer(ping);
    if (end instanceof WebSocketError) this.close(end.code, end.message);
    else if (end !== undefined) this.close(closeCodes.normal, '');
    return pieces;
  }

  /** When several pings arrived together, only the last needs a pong (RFC 6455 section 5.5.3). */
  private answer(ping: Buffer): void {
    if (this.socket.writableLength > maxUnreadPongs) this.socket.destroy();
    else this.write(Buffer.concat([frameHead(opcodes.pong, ping.length), ping]));
  }

  private ping(): void {
    this.pings++;
    if (!this.isHeld && this.pings % quietPings !== 0) return;
    if (!this.isClosing && this.socket.writableLength === 0) this.write(frameHead(opcodes.ping, 0));
  }

  /** Sends binary messages in one write. Resolves when the client can take more, or has left. */
  async send(...messages: readonly (readonly Buffer[])[]): Promise<void> {
    if (this.isClosing || messages.length === 0) return;
    const bytes = Buffer.concat(messages.flatMap((parts) => [frameHead(opcodes.binary, sizeOf(parts)), ...parts]));
    if (this.throttle !== undefined) await this.throttle(bytes.length);
    await writeFully(this.socket, [bytes]);
  }

  /** Begins the closing handshake, unless it has already begun. */
  close(code: number, reason: string): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.write(closeFrame(code, reason));
    if (!this.socket.destroyed) this.socket.end();
    this.destroySoon();
    // Later data is ignored, but must be read for the connection to end.
    this.socket.resume();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Limits the wait for a client that does not read to the time of the closing handshake. */
  destroySoon(): void {
    const late = setTimeout(() => this.socket.destroy(), closingMs);
    this.socket.once('close', () => clearTimeout(late));
  }

  private write(bytes: Buffer): void {
    if (!this.socket.destroyed && !this.socket.writableEnded) this.socket.write(bytes);
  }
}

function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
