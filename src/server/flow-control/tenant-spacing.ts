import type { Contention } from './contention.js';
import { DecayingMaximum } from './decaying-maximum.js';
import type { QueueTimers } from './queue-timers.js';

/** How much a request that took longer, or less long, than the estimate changes it. Half of them do each, so it follows the median. */
const step = 1.5;
/** What a request costs outside its time with seats, for connection, head and authentication, in milliseconds. */
const overheadMs = 1;
/** The longest time between two requests of a tenant: so many milliseconds, and so many times as long as one takes. */
const longest = { ms: 250, times: 2 };
/** A tenant with at most `few` requests at one time is never spaced, one with `many` as far as its part of all work says. */
const requests = { few: 4, many: 12 };
/**
 * Only tenants are spaced that have more than this part of the requests, and of the work, of those that have or had most.
 * Either alone can be wrong: who waits for others has much work for a while, and many short requests are little work.
 */
const spacedPart = 0.5;
/** The largest numbers of a tenant count for about this long, in milliseconds. */
const rememberedMs = 1000;
/** Tenants without requests are forgotten when at least this many tenants are known. */
const manyTenants = 1024;

interface Tenant {
  /** Requests that wait or run. */
  present: number;
  /**
   * About half of the requests take longer, in milliseconds. A mean would rise for those who wait while others keep the event
   * loop.
   */
  medianMs: number;
  /** Expected time of the events of the requests that wait or run, in milliseconds. */
  eventsMs: number;
  /** Expected time of the requests that wait or run, in milliseconds. */
  workMs: number;
  /** When the next request may begin. */
  freeAt: number;
}

/**
 * Spaces the requests of the tenants that cause most work, while the event loop is busy and several users have requests.
 * Seats alone do not help there: a process has more of them than its thread, or the database, can serve at one time. The
 * time between two requests of a tenant is the time that one usually takes, multiplied by the spacing of {@link Contention}
 * and by the tenant's part of the work of all requests that wait or run. Tenants with few requests at one time do not wait, nor
 * do those with less than half of the requests or the work of another.
 */
export class TenantSpacing {
  private readonly tenants = new Map<string, Tenant>();
  /** The work of all tenants. */
  private totalMs = 0;
  /** The most work, and the most requests, of a tenant. */
  private readonly largest: { readonly workMs: DecayingMaximum; readonly present: DecayingMaximum };
  private forgetAt = manyTenants;
  private next: { readonly at: number; readonly cancel: () => void } | undefined;

  /** @param wake called when a tenant that had to wait may begin its next request */
  constructor(
    private readonly timers: QueueTimers,
    private readonly contention: Pick<Contention, 'spacing'>,
    private readonly wake: () => void,
  ) {
    this.largest = {
      workMs: new DecayingMaximum(timers, rememberedMs),
      present: new DecayingMaximum(timers, rememberedMs),
    };
  }

  /** Counts a request that begins to wait or to run. @param eventsMs expected time of the events that it causes */
  entered(tenant: string | undefined, eventsMs: number): void {
    if (tenant === undefined) return;
    let known = this.tenants.get(tenant);
    if (known === undefined) {
      this.forgetIdle();
      known = { present: 0, medianMs: 0, eventsMs: 0, workMs: 0, freeAt: 0 };
      this.tenants.set(tenant, known);
    }
    known.present++;
    known.eventsMs += eventsMs;
    this.weigh(known);
  }

  /** Called when a request no longer waits, or runs. */
  left(tenant: string | undefined, eventsMs: number): void {
    const known = tenant === undefined ? undefined : this.tenants.get(tenant);
    if (known === undefined) return;
    known.present--;
    known.eventsMs = known.present === 0 ? 0 : known.eventsMs - eventsMs;
    this.weigh(known);
  }

  /** Whether the next request of the tenant may begin; undefined: one that is never spaced. */
  mayStart(tenant: string | undefined): boolean {
    if (tenant === undefined || this.contention.spacing === 0) return true;
    const known = this.tenants.get(tenant);
    const now = this.timers.elapsed();
    if (known === undefined || known.freeAt <= now) return true;
    this.wakeAt(known.freeAt, now);
    return false;
  }

  /** Called when a request begins to run. */
  started(tenant: string | undefined, eventsMs: number): void {
    const { spacing } = this.contention;
    const known = tenant === undefined || spacing === 0 ? undefined : this.tenants.get(tenant);
    if (known === undefined) return;
    const { present, medianMs, workMs } = known;
    if (present <= requests.few || present < this.largest.present.current * spacedPart) return;
    if (workMs < this.largest.workMs.current * spacedPart) return;
    const ofMany = Math.min(1, (present - requests.few) / (requests.many - requests.few));
    const part = ofMany * (workMs / Math.max(workMs, this.totalMs));
    const tookMs = medianMs + overheadMs + eventsMs;
    const spaceMs = Math.min(longest.ms + longest.times * tookMs, tookMs * spacing * part);
    known.freeAt = Math.max(this.timers.elapsed(), known.freeAt) + spaceMs;
  }

  /** Called when a request is done that took `workMs`, without the time in which it waited for its client or for servers outside. */
  stopped(tenant: string | undefined, workMs: number): void {
    const known = tenant === undefined ? undefined : this.tenants.get(tenant);
    if (known === undefined) return;
    if (known.medianMs === 0) known.medianMs = workMs;
    else if (workMs > known.medianMs) known.medianMs *= step;
    else if (workMs < known.medianMs) known.medianMs /= step;
    this.weigh(known);
  }

  stop(): void {
    this.next?.cancel();
    this.next = undefined;
  }

  private weigh(tenant: Tenant): void {
    const workMs = tenant.present * (tenant.medianMs + overheadMs) + tenant.eventsMs;
    this.totalMs += workMs - tenant.workMs;
    tenant.workMs = workMs;
    this.largest.workMs.add(workMs);
    this.largest.present.add(tenant.present);
  }

  private wakeAt(at: number, now: number): void {
    if (this.next !== undefined && this.next.at <= at) return;
    this.next?.cancel();
    const cancel = this.timers.after(Math.max(1, at - now), () => {
      this.next = undefined;
      this.wake();
    });
    this.next = { at, cancel };
  }

  private forgetIdle(): void {
    if (this.tenants.size < this.forgetAt) return;
    const now = this.timers.elapsed();
    for (const [name, { present, freeAt }] of this.tenants) {
      if (present === 0 && freeAt <= now) this.tenants.delete(name);
    }
    this.forgetAt = Math.max(manyTenants, this.tenants.size * 2);
  }
}
