import { tenantOf } from '../../../base/machinery/tenant-of.js';
import type { Timers } from '../../../base/machinery/timers.js';
import { TokenBucket } from '../../../base/machinery/token-bucket.js';

/**
 * Header fields of refused requests that a tenant may send in a second, and at once. A thousand fields cost two
 * milliseconds of processor time.
 */
const fieldsPerSecond = 10_000;
const fieldsAtOnce = 5_000;
/** What a refused request costs besides, in fields. */
const fieldsOfRequest = 10;
/** A refusal is delayed no longer than this, in milliseconds. */
const longestMs = 5_000;
/** The most refusals of a tenant that wait: each keeps a request in memory. */
const mostWaiting = 1_000;
/** With more tenants, those that have not been refused lately are forgotten. */
const mostTenants = 1_000;

interface Pace {
  readonly bucket: TokenBucket;
  waiting: number;
}

/**
 * Delays refusals of tenants that are refused all the time. Impersonation is decided before a request gets a seat, so
 * flow control does not limit a client that sends one long head after the other in vain. A client that waits for the
 * refusal sends no other request on its connection.
 */
export class RefusalPace {
  private readonly paces = new Map<string, Pace>();

  constructor(private readonly timers: Pick<Timers, 'elapsed' | 'wait'>) {}

  /** Resolves when the refusal may be sent, or when the signal is aborted. */
  async turn(user: string, fields: number, signal: AbortSignal): Promise<void> {
    const now = this.timers.elapsed();
    const pace = this.paceOf(tenantOf(user), now);
    const waitMs = Math.min(longestMs, pace.bucket.debtMs(now));
    pace.bucket.spend(now, fields + fieldsOfRequest);
    if (waitMs <= 0 || pace.waiting >= mostWaiting) return;
    pace.waiting++;
    await this.timers.wait(waitMs, signal);
    pace.waiting--;
  }

  /** The number of tenants that are remembered. */
  get size(): number {
    return this.paces.size;
  }

  private paceOf(tenant: string, now: number): Pace {
    let pace = this.paces.get(tenant);
    if (pace === undefined) {
      if (this.paces.size >= mostTenants) this.forget(now);
      pace = { bucket: new TokenBucket(fieldsPerSecond, fieldsAtOnce), waiting: 0 };
      this.paces.set(tenant, pace);
    }
    return pace;
  }

  private forget(now: number): void {
    for (const [tenant, { bucket, waiting }] of this.paces) {
      if (waiting === 0 && bucket.isFull(now)) this.paces.delete(tenant);
    }
  }
}
