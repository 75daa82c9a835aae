import type { FastifyReply } from 'fastify';
import { LinkedItems, type ListPlace } from '../../base/machinery/linked-items.js';
import type { CutReason, NoteCut } from './connection-cuts.js';
import { connectionOf } from './connection-of.js';

type Response = FastifyReply['raw'] & { [answer]?: ListPlace<UnreadAnswer> | typeof closed | undefined };
/** The number of unread bytes is stored on the connection itself. */
interface Connection {
  [unreadBytes]?: number;
}

const answer = Symbol('unread answer');
/** Marks a response that was closed. */
const closed = Symbol('closed');
const unreadBytes = Symbol('unread bytes');

export interface UnreadLimits {
  /** How long a response may wait for its client to start reading, in milliseconds. */
  readonly patienceMs: number;
  /** Above this number of unread bytes, further requests of the connection are refused. */
  readonly connectionBytes: number;
  /** Above this number of unread bytes of all connections together, the connection with the most is cut. */
  readonly totalBytes: number;
}

/** A client that reads more slowly than this, in bytes per second, counts as not reading. */
const leastBytesPerSecond = 64 * 1024;
const sweepMs = 500;

/** How long a client may take to read this many bytes, in milliseconds. */
export function readingTime(patienceMs: number, bytes: number): number {
  return patienceMs + (bytes / leastBytesPerSecond) * 1000;
}

interface UnreadAnswer {
  readonly deadline: number;
  readonly bytes: number;
  readonly connection: Connection;
  readonly response: Response;
}

/**
 * Tracks responses that were handed over for sending but not yet read by their clients. A response that is not read in
 * time is cut by closing its connection (HTTP/1.1) or its stream (HTTP/2). Otherwise a client that opens streams and
 * never reads them would fill the memory with responses. For the same reason all connections together have a limit:
 * above it, the connection with the most unread bytes loses its responses, so a client with a single response in
 * progress loses it last.
 */
export class UnreadAnswers {
  /** Unread responses, the one that has waited longest first. */
  private readonly answers = new LinkedItems<UnreadAnswer>();
  private total = 0;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: UnreadLimits,
    private readonly elapsed: () => number = () => performance.now(),
    private readonly note: NoteCut = () => undefined,
  ) {}

  /** Whether the connection of a response has too many unread bytes for further responses. */
  isFull(response: Response): boolean {
    return ((connectionOf(response) as Connection)[unreadBytes] ?? 0) > this.limits.connectionBytes;
  }

  /**
   * Records that the last `bytes` of a response were handed over. Bytes of a closed response don't count: nothing would
   * report when they are sent, and clients that leave early would use up the limits of others.
   */
  add(response: Response, bytes: number): void {
    if (response[answer] !== undefined) return;
    const connection: Connection = connectionOf(response);
    const deadline = this.elapsed() + readingTime(this.limits.patienceMs, bytes);
    response[answer] = this.answers.add({ deadline, bytes, connection, response });
    connection[unreadBytes] = (connection[unreadBytes] ?? 0) + bytes;
    this.total += bytes;
    if (this.total > this.limits.totalBytes) this.cutLargest();
    this.sweeper ??= setInterval(() => this.sweep(), Math.min(sweepMs, this.limits.patienceMs)).unref();
  }

  /** Records that the client has read all bytes that were handed over. */
  remove(response: Response): void {
    const place = response[answer];
    if (place === undefined || place === closed || place.item === undefined) return;
    const { bytes, connection } = place.item;
    response[answer] = undefined;
    this.answers.remove(place);
    this.total -= bytes;
    connection[unreadBytes] = (connection[unreadBytes] ?? 0) - bytes;
  }

  /** Records that the response was sent completely, or cut. Bytes added to it later do not count. */
  close(response: Response): void {
    this.remove(response);
    response[answer] = closed;
  }

  stop(): void {
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }

  private cutLargest(): void {
    let largest: Connection | undefined;
    let most = 0;
    for (const { connection } of this.answers) {
      const bytes = connection[unreadBytes] ?? 0;
      if (bytes <= most) continue;
      largest = connection;
      most = bytes;
    }
    this.cutAll('unread-answers', ({ connection }) => connection === largest);
  }

  private sweep(): void {
    const now = this.elapsed();
    this.cutAll('unread-answer', ({ deadline }) => deadline <= now);
    if (this.answers.size === 0) this.stop();
  }

  private cutAll(reason: CutReason, isCut: (answer: UnreadAnswer) => boolean): void {
    for (const { response } of [...this.answers].filter(isCut)) {
      this.remove(response);
      this.note(reason, { client: response.req?.socket?.remoteAddress });
      cut(response);
    }
  }
}

/** Ends a response whose client does not read. */
export function cut(response: Response): void {
  const { stream } = response as { stream?: { close?: (code: number) => void; destroy(): void } };
  // A stream that is destroyed without this code may wait for its client's window forever.
  if (stream?.close !== undefined) {
    stream.close(cancelled);
    stream.destroy();
  } else response.destroy();
}

/** The error code CANCEL (RFC 9113 section 7). */
const cancelled = 8;
