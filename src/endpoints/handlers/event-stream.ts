import type { FastifyReply } from 'fastify';
import type { RequestContext } from '../../machinery/request-context.js';
import { formatWarning } from '../negotiation/respond.js';
import type { ConnectionThrottle } from '../negotiation/throttle.js';
import { cut, type UnreadAnswers } from '../unread-answers.js';

/** Where the events of a watch go. */
export interface WatchStream {
  readonly isClosed: boolean;
  /** Bytes kept for the next flush. */
  readonly pendingBytes: number;
  onClose(listener: () => void): void;
  /** Keeps events for the next flush. */
  push(bytes: Buffer): void;
  flush(): Promise<void>;
  /** Resolves when the client can take more, or is gone. */
  write(bytes: Buffer): Promise<void>;
  /** Cuts a client that doesn't read: it could not be told anything any more. */
  cutIfBlocked(): void;
  end(): void;
}

/** The response of a watch: raw bytes, waiting for a client that reads slowly. */
export class EventStream implements WatchStream {
  private readonly raw: FastifyReply['raw'];
  private pending: Buffer[] = [];
  private bytes = 0;
  private closed = false;
  private readonly unread: UnreadAnswers | undefined;
  /** Awaited before each write; undefined without a limit. */
  private readonly throttle: ((bytes: number) => Promise<void>) | undefined;
  /** Wakes the write that waits for the client. */
  private wake: (() => void) | undefined;

  /** Sends the head of the response: the client knows that the watch stands before anything happens. */
  constructor(context: RequestContext, reply: FastifyReply, contentType: string, throttle: ConnectionThrottle) {
    this.unread = reply.request.plinthContext?.unread;
    reply.hijack();
    this.raw = reply.raw;
    this.throttle = throttle.writerOf(reply.raw);
    const go = () => this.wake?.();
    this.raw.on('drain', go);
    this.raw.once('close', () => {
      this.closed = true;
      go();
    });
    if (context.warnings.length > 0) this.raw.setHeader('warning', context.warnings.map(formatWarning));
    this.raw.setHeader('content-type', contentType);
    this.raw.setHeader('cache-control', 'no-cache, private');
    this.raw.writeHead(200);
    this.raw.flushHeaders?.();
  }

  get isClosed(): boolean {
    return this.closed || this.raw.destroyed === true || this.raw.writableEnded;
  }

  get pendingBytes(): number {
    return this.bytes;
  }

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.raw.once('close', listener);
  }

  /** Keeps bytes for the next flush. */
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

  /** Resolves when the client can take more, or is gone. */
  async write(bytes: Buffer): Promise<void> {
    if (this.throttle !== undefined) await this.throttle(bytes.length);
    if (this.isClosed) return;
    const target = this.raw as NodeJS.WritableStream;
    if (target.write(bytes) || this.wake !== undefined) return;
    // Nothing may ever happen on what it watches, so no full buffer would tell that it does not read.
    this.unread?.add(this.raw, bytes.length);
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.unread?.remove(this.raw);
    this.wake = undefined;
  }

  /** Cuts the connection (or stream) of a client that doesn't read: it could not be told anything any more. */
  cutIfBlocked(): void {
    if (this.wake !== undefined) cut(this.raw);
  }

  end(): void {
    if (!this.isClosed) this.raw.end();
  }
}
