import { RateLimiter } from '../../../base/machinery/rate-limiter.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { AuditEvent } from '../audit-event.js';
import type { AuditMetrics } from '../audit-metrics.js';
import type { AuditBackend } from './backend.js';
import { fitted, groupsOf, type SizeLimits } from './event-size.js';
import type { Losses } from './losses.js';

/** Sizes are in events, times in milliseconds. */
export interface BatchOptions {
  /** Maximum number of waiting events; further events are dropped. */
  readonly bufferSize: number;
  readonly maxSize: number;
  /** How long the first event of a batch waits for further ones. */
  readonly maxWaitMs: number;
  /** Batches per second; undefined for no limit. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
  /** Undefined for events of any length. */
  readonly limits: SizeLimits | undefined;
  /** Maximum number of concurrent deliveries. More than one may change the order of events. */
  readonly atOnce: number;
  /** How long the shutdown waits for deliveries in progress. */
  readonly stopMs: number;
}

/** Maximum number of characters of all waiting events, so that long events don't fill the memory. */
const maxWaitingLength = 128 * 1024 * 1024;

/**
 * Delivers events; rejects when all of them are lost. Resolves with the number of lost events that have already been
 * counted. It has its own time limit, and ends soon after the signal.
 */
export type Deliver = (events: readonly AuditEvent[], signal: AbortSignal) => Promise<number>;

/**
 * Accepts events without delay and delivers them in batches, without holding up requests. Events that don't fit into
 * the buffer, or are not delivered, are counted and logged.
 */
export class BatchBackend implements AuditBackend {
  readonly isStrict = false;
  private readonly buffer: AuditEvent[] = [];
  private bufferLength = 0;
  private underWay = 0;
  private readonly deliveries = new Set<Promise<void>>();
  private readonly throttle: RateLimiter | undefined;
  private readonly stopping = new AbortController();
  private readonly givingUp = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private isPumping = false;
  /** Resumes the loops that wait for a free delivery slot. */
  private wake: (() => void) | undefined;

  constructor(
    readonly name: string,
    private readonly options: BatchOptions,
    private readonly deliver: Deliver,
    private readonly losses: Losses,
    metrics: Pick<AuditMetrics, 'watchWaiting'>,
    private readonly timers: Timers,
  ) {
    const { throttle } = options;
    if (throttle !== undefined) this.throttle = new RateLimiter(throttle.perSecond, throttle.burst, timers);
    metrics.watchWaiting(name, () => this.buffer.length + this.underWay);
  }

  take(event: AuditEvent): boolean {
    const { bufferSize, limits, maxSize, maxWaitMs } = this.options;
    if (this.stopping.signal.aborted) {
      this.losses.dropped('shutdown', 1);
      return false;
    }
    if (this.buffer.length >= bufferSize || this.bufferLength > maxWaitingLength) {
      this.losses.dropped('buffer', 1);
      return false;
    }
    const shown = fitted(event, limits);
    if (shown === undefined) {
      this.losses.dropped('size', 1);
      return false;
    }
    this.buffer.push(shown);
    this.bufferLength += shown.length;
    if (this.buffer.length >= maxSize || maxWaitMs === 0) this.schedule(0);
    else if (this.timer === undefined) this.schedule(maxWaitMs);
    return true;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    const late = setTimeout(() => this.givingUp.abort(new Error('the process ends')), this.options.stopMs);
    clearTimeout(this.timer);
    await this.pump(true);
    await Promise.all(this.deliveries);
    clearTimeout(late);
    this.losses.stop();
  }

  private schedule(ms: number): void {
    if (this.isPumping) return;
    if (ms === 0) {
      clearTimeout(this.timer);
      this.timer = undefined;
      this.isPumping = true;
      setImmediate(() => void this.pump(false));
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.isPumping = true;
      void this.pump(true);
    }, ms);
    this.timer.unref();
  }

  /**
   * Starts deliveries for full batches, and for the rest if `isDue`. One such loop runs at a time, plus one during the
   * shutdown.
   */
  private async pump(isDue: boolean): Promise<void> {
    this.isPumping = true;
    let takesRest = isDue || this.options.maxWaitMs === 0;
    while (this.buffer.length >= this.options.maxSize || (takesRest && this.buffer.length > 0)) {
      if (this.deliveries.size >= this.options.atOnce) {
        await this.freePlace();
        continue;
      }
      const batch = this.buffer.splice(0, this.options.maxSize);
      if (batch.length < this.options.maxSize && this.options.maxWaitMs > 0) takesRest = this.stopping.signal.aborted;
      this.bufferLength -= batch.reduce((sum, { length }) => sum + length, 0);
      this.underWay += batch.length;
      for (const group of groupsOf(batch, this.options.limits)) {
        const waitMs = this.givingUp.signal.aborted ? 0 : (this.throttle?.takeTurn() ?? 0);
        if (waitMs > 0) await this.timers.wait(waitMs, this.givingUp.signal);
        this.begin(group);
      }
    }
    this.isPumping = false;
    if (this.buffer.length > 0 && this.timer === undefined) this.schedule(this.options.maxWaitMs);
  }

  private begin(events: readonly AuditEvent[]): void {
    const { signal } = this.givingUp;
    const sent = signal.aborted ? Promise.reject(signal.reason as Error) : this.deliver(events, signal);
    const delivery = sent
      .then(
        (lost) => this.losses.delivered(events.length - lost),
        (error: unknown) => this.losses.dropped(signal.aborted ? 'shutdown' : 'failure', events.length, error),
      )
      .finally(() => {
        this.underWay -= events.length;
        this.deliveries.delete(delivery);
        const { wake } = this;
        this.wake = undefined;
        wake?.();
      });
    this.deliveries.add(delivery);
  }

  private async freePlace(): Promise<void> {
    await new Promise<void>((resolve) => {
      const before = this.wake;
      this.wake = () => {
        before?.();
        resolve();
      };
    });
  }
}
