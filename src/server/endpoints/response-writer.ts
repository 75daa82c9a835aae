import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Seat } from '../flow-control/seat.js';
import { cut, type UnreadAnswers } from './unread-answers.js';

/** The response object of either HTTP version. */
export type ResponseSink = FastifyReply['raw'];

/**
 * Whether a write whose callback was called has really been sent: a failed write may still be in progress. Writes to a
 * stream that the client has reset call back without an error, although their frames may still be queued in the
 * connection.
 */
export function wasSent(sink: ResponseSink, error: unknown): boolean {
  const { stream } = sink as { stream?: { readonly destroyed: boolean; readonly rstCode?: number } };
  return (error === undefined || error === null) && (stream === undefined || (!stream.destroyed && !stream.rstCode));
}

/**
 * Writes a response at the pace of its client. It relies on events, as only those are common to both HTTP versions.
 */
export class ResponseWriter {
  private readonly target: NodeJS.WritableStream;
  private closed = false;
  /** Resumes the write that waits for the client. */
  private wake: (() => void) | undefined;

  constructor(
    private readonly sink: ResponseSink,
    private readonly unread: UnreadAnswers | undefined,
    /**
     * The seat of a request that keeps it until its response is complete; other requests may take the seat while the
     * client does not read.
     */
    private readonly seat?: Pick<Seat, 'waitForReader' | 'resume'>,
  ) {
    this.target = sink as NodeJS.WritableStream;
    this.target.on('drain', () => this.wake?.());
    this.target.once('close', () => {
      this.closed = true;
      this.wake?.();
    });
  }

  /**
   * Whether the client left or the whole response was handed over. The client may have left before this writer was
   * made, so that no event comes any longer: an HTTP/2 response then says nothing, but its stream does.
   */
  get isGone(): boolean {
    const { sink } = this;
    if (this.closed || sink.destroyed === true || sink.writableEnded) return true;
    return (sink as { stream?: { readonly destroyed: boolean } }).stream?.destroyed === true;
  }

  onGone(listener: () => void): void {
    if (this.isGone) listener();
    else this.target.once('close', listener);
  }

  /**
   * Resolves when more may be written, or when nothing can be written any longer. A chunk written while another write
   * waits is buffered. Rejects when the request lost its seat meanwhile and did not get one again in time. `onSent` is
   * called when the bytes of the chunk are no longer needed, unless that is uncertain.
   */
  async write(chunk: string | Uint8Array, onSent?: () => void): Promise<void> {
    await this.send(chunk, undefined, onSent);
  }

  /**
   * Like {@link write}, but returns undefined if more may be written at once. A chunk that is already framed is written
   * to `connection`, once the head was sent.
   */
  send(chunk: string | Uint8Array, connection?: Socket, onSent?: () => void): Promise<void> | undefined {
    if (this.isGone) return undefined;
    const target = connection ?? this.target;
    const mayGoOn =
      onSent === undefined
        ? target.write(chunk)
        : target.write(chunk, (error: unknown) => {
            if (wasSent(this.sink, error)) onSent();
          });
    if (mayGoOn || this.wake !== undefined) return undefined;
    // The response emits no `drain` for data that was written to the connection.
    connection?.once('drain', () => this.wake?.());
    return this.untilRead(chunk.length);
  }

  private async untilRead(bytes: number): Promise<void> {
    // There may be no later write (a watch without changes), so a full buffer alone would not reveal a client that
    // doesn't read.
    this.unread?.add(this.sink, bytes);
    this.seat?.waitForReader();
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.unread?.remove(this.sink);
    this.wake = undefined;
    const seated = this.seat?.resume();
    if (seated === undefined) return;
    await seated.catch((error: unknown) => {
      if (!this.isGone) throw error;
    });
  }

  /** Cuts the connection (or stream) of a client that doesn't read: no message could reach it any longer. */
  cutIfBlocked(): void {
    if (this.wake !== undefined) cut(this.sink);
  }

  end(): void {
    if (!this.isGone) this.target.end();
  }
}
