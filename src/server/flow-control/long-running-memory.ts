import type { UserInfo } from '../../base/machinery/request-context.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { tenantOf } from '../../base/machinery/tenant-of.js';

/** How long a refused client should wait, in seconds: memory is freed only when long-running requests end. */
const retryAfterSeconds = 10;

/**
 * The memory that long-running requests hold: their heads, parsed selectors and connections. All share one limit, and
 * one tenant (a user, or the service accounts of a namespace) may have half of what the others leave free, so that some
 * memory is always left for another tenant. Administrators count, but are never refused, because they must be able to
 * fix the problem.
 */
export class LongRunningMemory {
  private readonly byTenant = new Map<string, number>();
  private total = 0;
  private refused = 0;

  /** @param limitBytes 0: no limit */
  constructor(readonly limitBytes: number) {}

  /** The memory of all long-running requests in bytes, as estimated. */
  get bytes(): number {
    return this.total;
  }

  /** Number of refused requests. */
  get refusals(): number {
    return this.refused;
  }

  /** Counts a request that begins. @throws a 429 when it does not fit */
  enter(user: UserInfo, bytes: number): LongRunningShare {
    const share = new Share(this, tenantOf(user.name), user.groups.includes('system:masters'));
    share.add(bytes);
    return share;
  }

  /** @throws a 429 when that is too much for the tenant */
  take(tenant: string, bytes: number, isExempt: boolean): void {
    const own = this.byTenant.get(tenant) ?? 0;
    const leftByOthers = this.limitBytes - (this.total - own);
    if (!isExempt && this.limitBytes > 0 && own + bytes > leftByOthers / 2) {
      this.refused++;
      throw tooMuchMemoryError();
    }
    this.set(tenant, own + bytes);
  }

  give(tenant: string, bytes: number): void {
    this.set(tenant, (this.byTenant.get(tenant) ?? 0) - bytes);
  }

  private set(tenant: string, bytes: number): void {
    this.total += bytes - (this.byTenant.get(tenant) ?? 0);
    if (bytes > 0) this.byTenant.set(tenant, bytes);
    else this.byTenant.delete(tenant);
  }
}

/** The memory held by one request. */
export interface LongRunningShare {
  /** Adds memory to the request. @throws a 429 when it does not fit; the memory added before still counts */
  add(bytes: number): void;
  /** Called when the request has ended; may be called more than once. */
  leave(): void;
}

class Share implements LongRunningShare {
  private bytes = 0;
  private isOver = false;

  constructor(
    private readonly memory: LongRunningMemory,
    private readonly tenant: string,
    private readonly isExempt: boolean,
  ) {}

  add(bytes: number): void {
    if (this.isOver || bytes <= 0) return;
    this.memory.take(this.tenant, bytes, this.isExempt);
    this.bytes += bytes;
  }

  leave(): void {
    this.isOver = true;
    if (this.bytes > 0) this.memory.give(this.tenant, this.bytes);
    this.bytes = 0;
  }
}

function tooMuchMemoryError(): StatusError {
  return new StatusError(
    'TooManyRequests',
    'Too many requests, please try again later: your open watches and other long-running requests keep too much memory.',
    { details: { retryAfterSeconds }, isSelfDefence: true },
  );
}
