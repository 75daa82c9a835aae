import { invariant } from '../../base/machinery/invariant.js';
import { StatusError } from '../../base/machinery/status-error.js';
import type { Timers } from '../../base/machinery/timers.js';
import { formatMicroTime } from '../../base/machinery/values/time.js';
import type { Logger } from '../../base/observability/logger.js';
import type { LeaseSpec } from '../../objects/apis/coordination/v1/lease.types.js';
import type { LeaseLock } from './lease-lock.js';

/** The times of an election, in milliseconds. */
export interface LeaseTimes {
  /** Other processes take over when they have seen no renewal for this long. Must be whole seconds. */
  readonly leaseDurationMs: number;
  /** A leader that could not renew the lease for this long stops leading. */
  readonly renewDeadlineMs: number;
  /** Pause between attempts to acquire or renew. */
  readonly retryPeriodMs: number;
}

const defaultLeaseTimes: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };

export interface LeaseElectorOptions extends Partial<LeaseTimes> {
  readonly lock: LeaseLock;
  /** Must be unique to this process: a process that finds its own identity in the Lease leads. */
  readonly identity: string;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Returns a random number from 0 to 1, which spreads the attempts of candidates. */
  readonly random: () => number;
}

/** The largest factor by which a candidate's pause is lengthened. */
const jitter = 1.2;

/**
 * Decides which of several processes leads, by a Lease object.
 *
 * - *Candidate*: tries to take the Lease every retry period. A Lease is free if it has no holder, or if this process
 *   has seen its content unchanged for the duration that the holder wrote into it. Clocks of different machines are
 *   never compared.
 * - *Leader*: renews every retry period. It stops when asked to, when somebody else holds the Lease, or when its last
 *   successful renewal *began* more than a renew deadline ago. For the other processes the Lease lasts longer than
 *   that, so the leader has stopped before one of them starts.
 *
 * Every write is conditional on the state that was read, so if two processes take a free Lease at once, only one
 * succeeds.
 */
export class LeaseElector {
  private readonly times: LeaseTimes;
  private observed: { readonly content: string; readonly at: number } | undefined;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private leading = false;
  /** Whether this process holds the lease, from when it was taken until it is lost or about to be released. */
  private isHeld = false;
  private expire: () => void = () => undefined;

  /** @throws RangeError for times that would let two processes lead. */
  constructor(private readonly options: LeaseElectorOptions) {
    this.times = { ...defaultLeaseTimes, ...definedTimes(options) };
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.times;
    if (leaseDurationMs <= renewDeadlineMs) throw new RangeError('the lease must last longer than the renew deadline');
    if (renewDeadlineMs <= retryPeriodMs * jitter)
      throw new RangeError('the renew deadline must exceed the retry period');
    if (retryPeriodMs <= 0 || leaseDurationMs % 1000 !== 0) throw new RangeError('the lease lasts whole seconds');
  }

  get isLeading(): boolean {
    return this.leading;
  }

  /**
   * Whether no other process can lead at this moment. It reads the clock, so it returns false although the signal of
   * the term is not aborted yet, when the event loop was held and the timers are late. The term then ends at once.
   */
  get mayAct(): boolean {
    if (!this.isHeld) return false;
    if (this.leftMs() > 0) return true;
    this.expire();
    return false;
  }

  /**
   * Takes part in the election until `signal` is aborted. `lead` is called for each term and must return soon after its
   * own signal is aborted; the Lease is released after it has returned. If `lead` returns or fails by itself, the term
   * ends.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { timers, logger, identity } = this.options;
    while (!signal.aborted) {
      if (await this.tryAcquire()) {
        logger.info('leading', { identity });
        await this.term(lead, signal);
        logger.info('no longer leading', { identity });
      }
      if (!signal.aborted)
        await timers.wait(this.times.retryPeriodMs * (1 + this.options.random() * (jitter - 1)), signal);
    }
  }

  private async tryAcquire(): Promise<boolean> {
    try {
      // If the write took too long, the lease may have expired by now.
      return (await this.attempt()) && this.leftMs() > 0;
    } catch (error) {
      // Another process won, or the database is briefly unreachable: the next attempt will show.
      this.options.logger.debug('could not take the lease', { error });
      return false;
    }
  }

  private async term(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const end = new AbortController();
    const stop = () => end.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    invariant(!this.isHeld, 'a term begins when the one before has ended', this.options.identity);
    this.leading = true;
    this.isHeld = true;
    this.expire = stop;
    const work = lead(end.signal).catch((error: unknown) => {
      if (!end.signal.aborted) this.options.logger.error('leading failed', { error });
    });
    void work.then(stop);
    const stillOurs = await this.renewUntil(end.signal);
    this.leading = false;
    // Work that ends in an orderly way may still write as long as the lease lasts.
    this.isHeld = stillOurs;
    stop();
    signal.removeEventListener('abort', stop);
    await work;
    const isOurs = stillOurs && this.leftMs() > 0;
    this.isHeld = false;
    if (isOurs) await this.release();
  }

  /** Renews until the abort (true) or until the lease is lost (false). */
  private async renewUntil(ended: AbortSignal): Promise<boolean> {
    const { timers, logger } = this.options;
    for (;;) {
      await timers.wait(Math.min(this.times.retryPeriodMs, this.leftMs()), ended);
      if (ended.aborted) return this.leftMs() > 0;
      const left = this.leftMs();
      const outcome = left > 0 ? await this.renew(left) : 'late';
      if (outcome === 'late') {
        logger.warn('the lease could not be renewed in time', { identity: this.options.identity });
        return false;
      }
      if (outcome === 'lost') return false;
    }
  }

  /** The time until this process must stop leading unless it renews. */
  private leftMs(): number {
    return this.renewedAt + this.times.renewDeadlineMs - this.options.timers.elapsed();
  }

  private async renew(deadlineMs: number): Promise<'renewed' | 'failed' | 'lost' | 'late'> {
    const decided = new AbortController();
    const late = this.options.timers.wait(deadlineMs, decided.signal).then(() => 'late' as const);
    const attempt = this.attempt().then(
      (held) => (held ? ('renewed' as const) : ('lost' as const)),
      (error: unknown) => {
        this.options.logger.warn('could not renew the lease', { error });
        return 'failed' as const;
      },
    );
    try {
      return await Promise.race([attempt, late]);
    } finally {
      decided.abort();
    }
  }

  /** Takes or renews the lease if that is allowed now. False: somebody else holds it. */
  private async attempt(): Promise<boolean> {
    const { lock, timers, identity } = this.options;
    const startedAt = timers.elapsed();
    const lease = await lock.read();
    const now = timers.now();
    if (lease === undefined) {
      await lock.create(this.record(now, formatMicroTime(now), 0), now);
    } else {
      const { holderIdentity = '', leaseTransitions = 0, acquireTime } = lease.spec;
      const content = JSON.stringify(lease.spec);
      if (this.observed?.content !== content) this.observed = { content, at: timers.elapsed() };
      const isOurs = holderIdentity === identity;
      if (!isOurs && holderIdentity !== '' && timers.elapsed() < this.observed.at + this.durationOf(lease.spec)) {
        return false;
      }
      const since = isOurs && acquireTime !== undefined ? acquireTime : formatMicroTime(now);
      await lock.update(lease, this.record(now, since, isOurs ? leaseTransitions : leaseTransitions + 1), now);
    }
    // An abandoned attempt may finish after a later one.
    this.renewedAt = Math.max(this.renewedAt, startedAt);
    return true;
  }

  private record(now: number, acquireTime: string, leaseTransitions: number): LeaseSpec {
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: this.times.leaseDurationMs / 1000,
      acquireTime,
      renewTime: formatMicroTime(now),
      leaseTransitions,
    };
  }

  private durationOf({ leaseDurationSeconds }: Readonly<LeaseSpec>): number {
    return leaseDurationSeconds === undefined ? this.times.leaseDurationMs : leaseDurationSeconds * 1000;
  }

  /** Releases the lease, so the next candidate can start at once. */
  private async release(): Promise<void> {
    const { lock, timers, identity, logger } = this.options;
    try {
      const lease = await lock.read();
      if (lease?.spec.holderIdentity !== identity) return;
      const now = timers.now();
      const time = formatMicroTime(now);
      const { leaseTransitions = 0 } = lease.spec;
      const free = {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: time,
        renewTime: time,
        leaseTransitions,
      };
      await lock.update(lease, free, now);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'Conflict') return;
      logger.warn('could not release the lease; others take over when it has expired', { error });
    }
  }
}

function definedTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Partial<LeaseTimes>): Partial<LeaseTimes> {
  return {
    ...(leaseDurationMs === undefined ? {} : { leaseDurationMs }),
    ...(renewDeadlineMs === undefined ? {} : { renewDeadlineMs }),
    ...(retryPeriodMs === undefined ? {} : { retryPeriodMs }),
  };
}
