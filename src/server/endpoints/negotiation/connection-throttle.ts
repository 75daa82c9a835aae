import type { FastifyReply } from 'fastify';
import { connectionOf } from '../connection-of.js';

type Response = FastifyReply['raw'];

/** Tracks how far a connection is ahead of its rate. */
interface Account {
  /** Monotonic time in milliseconds at which the rate allows all bytes written so far. */
  paidAt: number;
}

/** Limits the rate of all long-running requests of a connection together (`--max-connection-bytes-per-sec`). */
export class ConnectionThrottle {
  private readonly accounts = new WeakMap<object, Account>();

  /** @param bytesPerSecond 0 means no limit */
  constructor(
    private readonly bytesPerSecond: number,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /**
   * A function that a response awaits before each write; undefined if there is no limit. It resolves when the rate
   * allows all earlier writes on the connection, or when the response is closed.
   */
  writerOf(response: Response): ((bytes: number) => Promise<void>) | undefined {
    if (this.bytesPerSecond === 0) return undefined;
    const connection = connectionOf(response);
    let account = this.accounts.get(connection);
    if (account === undefined) {
      account = { paidAt: 0 };
      this.accounts.set(connection, account);
    }
    const own = account;
    return (bytes) => {
      const now = this.elapsed();
      const begin = Math.max(now, own.paidAt);
      own.paidAt = begin + (bytes / this.bytesPerSecond) * 1000;
      return begin > now ? pause(begin - now, response) : Promise.resolve();
    };
  }
}

function pause(milliseconds: number, response: Response): Promise<void> {
  const events = response as unknown as NodeJS.EventEmitter;
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      events.removeListener('close', done);
      resolve();
    };
    // A longer timeout would overflow the timer and fire at once.
    const timer = setTimeout(done, Math.min(milliseconds, 2_000_000_000));
    events.once('close', done);
  });
}
