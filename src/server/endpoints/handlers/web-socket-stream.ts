import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { WebSocket } from 'ws';
import type { AcceptedType } from '../negotiation/accept.js';
import type { ConnectionThrottle } from '../negotiation/connection-throttle.js';
import type { UnreadAnswers } from '../unread-answers.js';
import { openWebSocket } from '../web-sockets.js';
import type { WatchStream } from './event-stream.js';
import { sendFrames } from './send-frames.js';
import { eventsIn } from './watch-encoder.js';

const normalClosure = 1000;
/** A client that sends pings without reading the pongs is cut at this many unread bytes. */
const maxUnreadPongs = 1024 * 1024;

/**
 * Sends the events of a watch over WebSocket, one per frame: text frames for JSON, binary ones for protobuf and CBOR.
 */
export class WebSocketStream implements WatchStream {
  private readonly raw: FastifyReply['raw'];
  private readonly socket: Duplex;
  private readonly webSocket: WebSocket;
  private readonly unread: UnreadAnswers | undefined;
  private readonly throttle: ((bytes: number) => Promise<void>) | undefined;
  private pending: Buffer[] = [];
  private bytes = 0;
  private writes = 0;

  constructor(
    reply: FastifyReply,
    private readonly mediaType: AcceptedType['mediaType'],
    throttle: ConnectionThrottle,
  ) {
    const context = reply.request.plinthContext;
    this.unread = context?.unread;
    this.raw = reply.raw;
    this.throttle = throttle.writerOf(reply.raw);
    reply.hijack();
    const { socket, webSocket } = openWebSocket(reply.raw as unknown as ServerResponse);
    if (context !== undefined) context.isUpgraded = true;
    this.socket = socket;
    this.webSocket = webSocket;
    // Invalid frames end the connection; nothing else needs to be done.
    webSocket.on('error', () => undefined);
    webSocket.on('ping', () => {
      if (socket.writableLength > maxUnreadPongs) webSocket.terminate();
    });
  }

  get isClosed(): boolean {
    return this.webSocket.readyState !== WebSocket.OPEN;
  }

  get pendingBytes(): number {
    return this.bytes;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.webSocket.once('close', listener);
  }

  allocate(bytes: number): Buffer {
    return Buffer.allocUnsafe(bytes);
  }

  push(bytes: Buffer): void {
    this.pending.push(bytes);
    this.bytes += bytes.length;
  }

  pushText(text: string): number {
    const bytes = Buffer.from(text);
    this.push(bytes);
    return bytes.length;
  }

  async flush(): Promise<void> {
    const pieces = this.pending;
    this.pending = [];
    this.bytes = 0;
    await this.writeFrames(pieces.flatMap((piece) => this.framesOf(piece)));
  }

  /** Resolves when the client can take more or has left. `bytes` contains only whole events. */
  write(bytes: Buffer): Promise<void> {
    return this.writeFrames(this.framesOf(bytes));
  }

  private async writeFrames(frames: readonly Buffer[]): Promise<void> {
    const bytes = frames.reduce((sum, { length }) => sum + length, 0);
    if (this.throttle !== undefined) await this.throttle(bytes);
    this.writes++;
    this.unread?.add(this.raw, bytes);
    await sendFrames(this.webSocket, this.socket, frames, this.mediaType !== 'json');
    this.writes--;
    if (this.writes === 0) this.unread?.remove(this.raw);
  }

  cutIfBlocked(): void {
    if (this.writes > 0) this.webSocket.terminate();
  }

  end(): void {
    if (!this.isClosed) this.webSocket.close(normalClosure);
  }

  private framesOf(bytes: Buffer): readonly Buffer[] {
    switch (this.mediaType) {
      case 'protobuf':
        return lengthPrefixed(bytes);
      case 'cbor':
        return eventsIn(bytes);
      default:
        return lines(bytes);
    }
  }
}

/** Splits JSON events, each of which ends with its only line break. */
function lines(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const next = end < 0 ? bytes.length : end + 1;
    found.push(bytes.subarray(at, next));
    at = next;
  }
  return found;
}

/** Splits protobuf events and removes their length prefixes: frames contain the length themselves. */
function lengthPrefixed(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}
