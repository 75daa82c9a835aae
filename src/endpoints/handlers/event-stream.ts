import type { FastifyReply } from 'fastify';
import type { RequestContext } from '../../machinery/request-context.js';
import { formatWarning } from '../negotiation/respond.js';
import type { ConnectionThrottle } from '../negotiation/throttle.js';
import { ResponseWriter } from '../response-writer.js';

/** The destination of a watch's events. */
export interface WatchStream {
  readonly isClosed: boolean;
  /** Bytes queued for the next flush. */
  readonly pendingBytes: number;
  onClose(listener: () => void): void;
  /** Queues events for the next flush. */
  push(bytes: Buffer): void;
  flush(): Promise<void>;
  /** Resolves when the client can take more or has left. */
  write(bytes: Buffer): Promise<void>;
  /** Cuts a client that doesn't read: no message could reach it any longer. */
  cutIfBlocked(): void;
  end(): void;
}

/** The response of a watch: raw bytes, with back-pressure from slow clients. */
export class EventStream implements WatchStream {
  private readonly writer: ResponseWriter;
  private pending: Buffer[] = [];
  private bytes = 0;
  /** Awaited before each write; undefined if there is no limit. */
  private readonly throttle: ((bytes: number) => Promise<void>) | undefined;

  /** Sends the response head, so the client knows at once that the watch is established. */
  constructor(context: RequestContext, reply: FastifyReply, contentType: string, throttle: ConnectionThrottle) {
    reply.hijack();
    const { raw } = reply;
    this.writer = new ResponseWriter(raw, reply.request.plinthContext?.unread);
    this.throttle = throttle.writerOf(raw);
    if (context.warnings.length > 0) raw.setHeader('warning', context.warnings.map(formatWarning));
    raw.setHeader('content-type', contentType);
    raw.setHeader('cache-control', 'no-cache, private');
    raw.writeHead(200);
    raw.flushHeaders?.();
  }

  get isClosed(): boolean {
    return this.writer.isGone;
  }

  get pendingBytes(): number {
    return this.bytes;
  }

  onClose(listener: () => void): void {
    this.writer.onGone(listener);
  }

  push(bytes: Buffer): void {
    this.pending.push(bytes);
    this.bytes += bytes.length;
  }

  async flush(): Promise<void> {
    if (this.pending.length === 0) return;
    const bytes = this.pending.length === 1 ? (this.pending[0] as Buffer) : Buffer.concat(this.pending);
    this.pending = [];
    this.bytes = 0;
    await this.write(bytes);
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.throttle !== undefined) await this.throttle(bytes.length);
    await this.writer.write(bytes);
  }

  cutIfBlocked(): void {
    this.writer.cutIfBlocked();
  }

  end(): void {
    this.writer.end();
  }
}
