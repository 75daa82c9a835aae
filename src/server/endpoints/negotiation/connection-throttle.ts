import type { FastifyReply } from 'fastify';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';
import { connectionOf } from '../connection-of.js';

type Response = FastifyReply['raw'];

/** Limits the rate of all long-running requests of a connection together (`--max-connection-bytes-per-sec`). */
export class ConnectionThrottle {
  /** The bytes of each connection that its rate allows. */
  private readonly budgets = new WeakMap<object, TokenBucket>();

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
    const budget = this.budgets.get(connection) ?? new TokenBucket(this.bytesPerSecond, 0);
    this.budgets.set(connection, budget);
    return (bytes) => {
      const now = this.elapsed();
      const waitMs = budget.debtMs(now);
      budget.spend(now, bytes);
      return waitMs > 0 ? pause(waitMs, response) : Promise.resolve();
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
