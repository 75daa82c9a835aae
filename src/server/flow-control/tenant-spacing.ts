import type { Contention } from './contention.js';
import type { QueueTimers } from './queue-timers.js';

/** The weight of the latest request in the mean duration of a tenant's requests. */
const newestPart = 0.2;
/** The work of a tenant counts for about this long, in milliseconds. */
const rememberedMs = 1000;
/** The longest time between two requests of a tenant, in milliseconds. */
const longestMs = 1000;
/** Idle tenants are forgotten when at least this many are known. */
const manyTenants = 1024;

interface Tenant {
  /** Mean duration of a request, in milliseconds. */
  meanMs: number;
  /** Duration of all recent requests, decayed to `usedAt`, in milliseconds. */
  used: number;
  usedAt: number;
  /** When the next request may begin. */
  freeAt: number;
}

/**
 * Spaces the requests of the tenants that use most, while the event loop is busy and several users have requests. Seats
 * alone do not help there: a process has more of them than its thread, or the database, can serve at one time. The time
 * between two requests of a tenant is the mean time that one takes, multiplied by the spacing of {@link Contention} and by
 * the tenant's part of all recent work. So a tenant with few requests hardly waits, whatever others do.
 */
export class TenantSpacing {
  private readonly tenants = new Map<string, Tenant>();
  /** The recent work of all tenants, decayed to `totalAt`. */
  private total = 0;
  private totalAt = 0;
  private forgetAt = manyTenants;
  private next: { readonly at: number; readonly cancel: () => void } | undefined;

  /** @param wake called when a tenant that had to wait may begin its next request */
  constructor(
    private readonly timers: QueueTimers,
    private readonly contention: Pick<Contention, 'spacing'>,
    private readonly wake: () => void,
  ) {}

  /** Whether the next request of the tenant may begin; undefined: one that is never spaced. */
  mayStart(tenant: string | undefined): boolean {
    if (tenant === undefined || this.contention.spacing === 0) return true;
    const known = this.tenants.get(tenant);
    const now = this.timers.elapsed();
    if (known === undefined || known.freeAt <= now) return true;
    this.wakeAt(known.freeAt, now);
    return false;
  }

  /** Called when a request begins. */
  started(tenant: string | undefined): void {
    const { spacing } = this.contention;
    if (tenant === undefined || spacing === 0) return;
    const known = this.tenants.get(tenant);
    if (known === undefined) return;
    const now = this.timers.elapsed();
    const total = decayed(this.total, this.totalAt, now);
    const part = total > 0 ? Math.min(1, decayed(known.used, known.usedAt, now) / total) : 0;
    known.freeAt = Math.max(now, known.freeAt) + Math.min(longestMs, known.meanMs * spacing * part);
  }

  /** Called when a request is done that took `workMs`, without the time in which it waited for its client or for servers outside. */
  stopped(tenant: string | undefined, workMs: number): void {
    if (tenant === undefined) return;
    const now = this.timers.elapsed();
    let known = this.tenants.get(tenant);
    if (known === undefined) {
      this.forgetIdle(now);
      known = { meanMs: workMs, used: 0, usedAt: now, freeAt: 0 };
      this.tenants.set(tenant, known);
    }
    known.meanMs += (workMs - known.meanMs) * newestPart;
    known.used = decayed(known.used, known.usedAt, now) + workMs;
    known.usedAt = now;
    this.total = decayed(this.total, this.totalAt, now) + workMs;
    this.totalAt = now;
  }

  stop(): void {
    this.next?.cancel();
    this.next = undefined;
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

  private forgetIdle(now: number): void {
    if (this.tenants.size < this.forgetAt) return;
    for (const [name, { used, usedAt, freeAt }] of this.tenants) {
      if (freeAt <= now && decayed(used, usedAt, now) < 1) this.tenants.delete(name);
    }
    this.forgetAt = Math.max(manyTenants, this.tenants.size * 2);
  }
}

function decayed(value: number, at: number, now: number): number {
  return value * Math.exp((at - now) / rememberedMs);
}
