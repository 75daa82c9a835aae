import type { FastifyReply } from 'fastify';
import { cut, type UnreadAnswers } from './unread-answers.js';

/** Where the bytes of an answer go: the response of either HTTP version. */
export type ResponseSink = FastifyReply['raw'];

/**
 * A response that is written to as fast as its client reads. What the responses of both HTTP versions have in common are
 * the events: one of HTTP/2 does not tell that its stream is destroyed.
 */
export class ResponseWriter {
  private readonly target: NodeJS.WritableStream;
  private closed = false;
  /** Wakes the write that waits for the client. */
  private wake: (() => void) | undefined;

  constructor(
    private readonly sink: ResponseSink,
    private readonly unread: UnreadAnswers | undefined,
  ) {
    this.target = sink as NodeJS.WritableStream;
    this.target.on('drain', () => this.wake?.());
    this.target.once('close', () => {
      this.closed = true;
      this.wake?.();
    });
  }

  /** The client left, or took the whole answer. */
  get isGone(): boolean {
    return this.closed || this.sink.destroyed === true || this.sink.writableEnded;
  }

  onGone(listener: () => void): void {
    if (this.isGone) listener();
    else this.target.once('close', listener);
  }

  /** Resolves when more may be written, or nothing can be any more. What is written while another write waits is kept. */
  async write(chunk: string | Uint8Array): Promise<void> {
    if (this.isGone || this.target.write(chunk) || this.wake !== undefined) return;
    // Nothing more may ever be written (a watch on what does not change): no full buffer tells that it is not read.
    this.unread?.add(this.sink, chunk.length);
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.unread?.remove(this.sink);
    this.wake = undefined;
  }

  /** Cuts the connection (or stream) of a client that does not read: it could not be told anything any more. */
  cutIfBlocked(): void {
    if (this.wake !== undefined) cut(this.sink);
  }

  end(): void {
    if (!this.isGone) this.target.end();
  }
}
