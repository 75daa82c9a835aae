import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { answerBlocks } from '../negotiation/answer-blocks.js';
import type { ConnectionThrottle } from '../negotiation/connection-throttle.js';
import { takeOver } from '../negotiation/respond.js';
import { ResponseWriter } from '../response-writer.js';
import { PendingEvents } from './pending-events.js';

/** The destination of a watch's events. */
export interface WatchStream {
  readonly isClosed: boolean;
  /** Bytes queued for the next flush. */
  readonly pendingBytes: number;
  onClose(listener: () => void): void;
  /** Room for one event of this length, in which it can be made; then pushing it takes no copy. */
  allocate(bytes: number): Buffer;
  /** Queues events for the next flush. */
  push(bytes: Buffer): void;
  /** Queues one event, as text, for the next flush; returns its length in bytes. */
  pushText(text: string): number;
  flush(): Promise<void>;
  /** Returns undefined if the client can take more; otherwise resolves when it can or has left. */
  write(bytes: Buffer): Promise<void> | undefined;
  /** Cuts a client that doesn't read: no message could reach it any longer. */
  cutIfBlocked(): void;
  end(): void;
}

/** The response of a watch: raw bytes, with back-pressure from slow clients. */
export class EventStream implements WatchStream {
  private readonly writer: ResponseWriter;
  private readonly pending = new PendingEvents();
  /** Awaited before each write; undefined if there is no limit. */
  private readonly throttle: ((bytes: number) => Promise<void>) | undefined;
  /**
   * The connection of a chunked HTTP/1.1 response. Each event is one write of a chunk that all watchers share: the
   * response itself would build the chunk again for each watcher, in three writes.
   */
  private readonly connection: Socket | undefined;

  /** Sends the response head, so the client knows at once that the watch is established. */
  constructor(context: RequestContext, reply: FastifyReply, contentType: string, throttle: ConnectionThrottle) {
    const headers = takeOver(context, reply, contentType);
    const { raw } = reply;
    this.writer = new ResponseWriter(raw, reply.request.plinthContext?.unread);
    this.throttle = throttle.writerOf(raw);
    raw.writeHead(200, headers);
    raw.flushHeaders?.();
    if (raw instanceof ServerResponse && raw.chunkedEncoding && raw.headersSent)
      this.connection = raw.socket ?? undefined;
  }

  get isClosed(): boolean {
    return this.writer.isGone;
  }

  get pendingBytes(): number {
    return this.pending.length;
  }

  onClose(listener: () => void): void {
    this.writer.onGone(listener);
  }

  allocate(bytes: number): Buffer {
    return this.pending.allocate(bytes);
  }

  push(bytes: Buffer): void {
    this.pending.push(bytes);
  }

  pushText(text: string): number {
    return this.pending.pushText(text);
  }

  async flush(): Promise<void> {
    const { connection, throttle, writer } = this;
    for (const piece of this.pending.take()) {
      if (throttle !== undefined) await throttle(piece.length);
      const bytes = connection === undefined ? piece.plain() : piece.chunk();
      await writer.send(bytes, connection, () => answerBlocks.giveBack(bytes));
    }
  }

  write(bytes: Buffer): Promise<void> | undefined {
    if (this.throttle !== undefined) return this.throttle(bytes.length).then(() => this.send(bytes));
    return this.send(bytes);
  }

  private send(bytes: Buffer): Promise<void> | undefined {
    const { connection } = this;
    return connection === undefined ? this.writer.send(bytes) : this.writer.send(chunkOf(bytes), connection);
  }

  cutIfBlocked(): void {
    this.writer.cutIfBlocked();
  }

  end(): void {
    this.writer.end();
  }
}

/** The last chunk. Watchers that are served in a row mostly send the same bytes. */
let framed: { readonly bytes: Buffer; readonly chunk: Buffer } | undefined;

/** The bytes as one chunk of the transfer coding (RFC 9112 section 7.1). */
function chunkOf(bytes: Buffer): Buffer {
  if (framed?.bytes !== bytes) {
    const head = `${bytes.length.toString(16)}\r\n`;
    const chunk = Buffer.allocUnsafe(head.length + bytes.length + 2);
    chunk.write(head, 0, 'latin1');
    chunk.set(bytes, head.length);
    chunk.write('\r\n', head.length + bytes.length, 'latin1');
    framed = { bytes, chunk };
  }
  return framed.chunk;
}
