import type { FastifyReply } from 'fastify';
import { connectionOf } from './connection-of.js';

type Response = FastifyReply['raw'];

export interface UnreadLimits {
  /** How long an answer may wait for its client to begin to read, in milliseconds. */
  readonly patienceMs: number;
  /** Bytes of answers that one connection may leave unread before more of its requests are refused. */
  readonly connectionBytes: number;
  /** Bytes of answers that all connections together may leave unread before the one that leaves most is cut. */
  readonly totalBytes: number;
}

/** A client that reads more slowly than this, in bytes per second, counts as one that does not read. */
const leastBytesPerSecond = 64 * 1024;
const sweepMs = 500;

/** How long a client may take for so many bytes, in milliseconds. */
export function readingTime(patienceMs: number, bytes: number): number {
  return patienceMs + (bytes / leastBytesPerSecond) * 1000;
}

interface UnreadAnswer {
  readonly deadline: number;
  readonly bytes: number;
  readonly connection: object;
}

/**
 * Answers that were handed over for sending and that their clients have not taken yet. One that is not taken in its time
 * is cut: its connection in HTTP/1.1, its stream in HTTP/2. Else whoever opens streams and never lets them send would
 * fill the memory with answers. For the same reason there is a limit for all connections together: above it, that
 * connection loses its answers which leaves most unread, so that clients with one answer under way lose theirs last.
 */
export class UnreadAnswers {
  private readonly answers = new Map<Response, UnreadAnswer>();
  /** Of connections that leave something unread, the longest first. */
  private readonly bytesOf = new Map<object, number>();
  private total = 0;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: UnreadLimits,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** Whether the connection of a response leaves too much unread to be given more. */
  isFull(response: Response): boolean {
    return (this.bytesOf.get(connectionOf(response)) ?? 0) > this.limits.connectionBytes;
  }

  /** The last `bytes` of an answer were handed over. */
  add(response: Response, bytes: number): void {
    if (this.answers.has(response)) return;
    const connection = connectionOf(response);
    const deadline = this.elapsed() + readingTime(this.limits.patienceMs, bytes);
    this.answers.set(response, { deadline, bytes, connection });
    this.bytesOf.set(connection, (this.bytesOf.get(connection) ?? 0) + bytes);
    this.total += bytes;
    if (this.total > this.limits.totalBytes) this.cutLargest();
    this.sweeper ??= setInterval(() => this.sweep(), Math.min(sweepMs, this.limits.patienceMs)).unref();
  }

  /** The response was sent to its end, or cut. */
  remove(response: Response): void {
    const answer = this.answers.get(response);
    if (answer === undefined) return;
    this.answers.delete(response);
    this.total -= answer.bytes;
    const left = (this.bytesOf.get(answer.connection) ?? 0) - answer.bytes;
    if (left > 0) this.bytesOf.set(answer.connection, left);
    else this.bytesOf.delete(answer.connection);
  }

  stop(): void {
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }

  private cutLargest(): void {
    let largest: object | undefined;
    let most = 0;
    for (const [connection, bytes] of this.bytesOf) {
      if (bytes <= most) continue;
      largest = connection;
      most = bytes;
    }
    for (const [response, { connection }] of this.answers) {
      if (connection !== largest) continue;
      this.remove(response);
      cut(response);
    }
  }

  private sweep(): void {
    const now = this.elapsed();
    for (const [response, { deadline }] of this.answers) {
      if (deadline > now) continue;
      this.remove(response);
      cut(response);
    }
    if (this.answers.size === 0) this.stop();
  }
}

/** Ends a response whose client does not read. */
export function cut(response: Response): void {
  const { stream } = response as { stream?: { close?: (code: number) => void; destroy(): void } };
  // A stream that is destroyed only may wait for the window of its client for ever.
  if (stream?.close !== undefined) {
    stream.close(cancelled);
    stream.destroy();
  } else response.destroy();
}

/** CANCEL (RFC 9113 section 7). */
const cancelled = 8;
