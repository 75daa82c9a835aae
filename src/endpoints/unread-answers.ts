import type { FastifyReply } from 'fastify';
import { connectionOf } from './connection-of.js';

type Response = FastifyReply['raw'];

export interface UnreadLimits {
  /** How long an answer may wait for its client to start reading, in milliseconds. */
  readonly patienceMs: number;
  /** Unread bytes per connection, above which its further requests are refused. */
  readonly connectionBytes: number;
  /** Unread bytes of all connections together, above which the connection with the most is cut. */
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
  readonly connection: object;
}

/**
 * Answers that were handed over for sending but not yet read by their clients. An answer that is not read in time is
 * cut: its connection in HTTP/1.1, its stream in HTTP/2. Otherwise a client that opens streams and never lets them send
 * would fill the memory with answers. For the same reason all connections together have a limit: above it, the
 * connection with the most unread bytes loses its answers, so a client with a single answer in progress loses it last.
 */
export class UnreadAnswers {
  private readonly answers = new Map<Response, UnreadAnswer>();
  /** Unread bytes by connection, the longest-waiting connection first. */
  private readonly bytesOf = new Map<object, number>();
  private total = 0;
  private sweeper: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: UnreadLimits,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** Whether the connection of a response has too many unread bytes to get more. */
  isFull(response: Response): boolean {
    return (this.bytesOf.get(connectionOf(response)) ?? 0) > this.limits.connectionBytes;
  }

  /** Records that the last `bytes` of an answer were handed over. */
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

  /** Records that the response was sent completely, or cut. */
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
  // A stream that is only destroyed may wait for its client's window forever.
  if (stream?.close !== undefined) {
    stream.close(cancelled);
    stream.destroy();
  } else response.destroy();
}

/** CANCEL (RFC 9113 section 7). */
const cancelled = 8;
