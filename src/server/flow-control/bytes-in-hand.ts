import { tooManyRequestsError } from '../../base/machinery/status-error.js';
import type { QueueTimers } from './queue-timers.js';

/** Limits of {@link BytesInHand}. */
export interface BytesLimits {
  /** Of the requests of one tenant. One request may always exceed it. */
  readonly tenantBytes: number;
  /** Of the requests of one tenant, those included whose clients send slowly. */
  readonly slowTenantBytes: number;
  /** Of all requests. */
  readonly totalBytes: number;
  /** How many requests of one tenant may wait. */
  readonly waitingOfTenant: number;
  /** Of the objects that waiting requests of one tenant have read already. */
  readonly waitingReadBytes: number;
  /** A client that has not sent its body after this time sends slowly, in milliseconds. */
  readonly slowMs: number;
  /**
   * While others have requests, the bytes of a request stay in hand for this many times as long as the work on it took,
   * and no longer than the other time.
   */
  readonly restFactor: number;
  readonly longestRestMs: number;
}

const mebibyte = 2 ** 20;
/**
 * A tenant has one body above a megabyte in hand, or several shorter ones. With two of a megabyte, its own requests would
 * hardly be faster, because the database takes one such write at a time; but others would wait twice as long when both
 * come to the same step.
 */
export const bytesLimits: BytesLimits = {
  tenantBytes: mebibyte,
  slowTenantBytes: 16 * mebibyte,
  totalBytes: 128 * mebibyte,
  waitingOfTenant: 200,
  waitingReadBytes: 64 * mebibyte,
  slowMs: 2_000,
  restFactor: 8,
  longestRestMs: 5_000,
};

/** A request whose body is large, or that works with a large object. */
export interface LargeBody {
  readonly tenant: string;
  readonly bytes: number;
  /** How long it may wait, in milliseconds. */
  readonly waitMs: number;
  /** Administrators must be able to fix the problem: they have no limit in common with others, and are not refused. */
  readonly isExempt: boolean;
  /** Whether the bytes are in memory already while the request waits. */
  readonly isRead?: boolean;
}

interface Waiter {
  readonly share: Share;
  readonly start: () => void;
}

interface Line {
  /** Bytes of requests whose clients send quickly, or whose bodies are there. */
  quick: number;
  slow: number;
  /** Bytes that waiting requests have in memory. */
  waitingRead: number;
  readonly waiting: Set<Waiter>;
}

/**
 * Limits the bytes of large bodies and objects that requests have in hand, from before the body is read, or after the
 * object was read, until the response is handed over. Each step with a megabyte takes milliseconds: of a hundred such
 * requests at one time, each turn of the event loop would have several, and the memory that they need together would
 * keep the garbage collector busy. So the requests of a tenant (a user, or the service accounts of a namespace) wait
 * for each other, unread, and tenants take turns. Beside others a tenant rests after each request: the busier the
 * machine is, the longer the work takes, and so the rest, which leaves processors and database to others.
 */
export class BytesInHand {
  /** The tenants that have requests, in the order of their turns. */
  private readonly lines = new Map<string, Line>();
  private total = 0;
  private refused = 0;

  /** @param hasOthers whether requests of several users are under way */
  constructor(
    private readonly limits: BytesLimits,
    private readonly timers: QueueTimers,
    private readonly hasOthers: () => boolean = () => false,
  ) {}

  /** The bytes that all requests have in hand. */
  get bytes(): number {
    return this.total;
  }

  /** The number of waiting requests. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.lines.values()) count += waiting.size;
    return count;
  }

  /** The number of refused requests. */
  get refusals(): number {
    return this.refused;
  }

  /** Takes the bytes of a request, or its place in the line of its tenant. @throws a 429 when the line is too long */
  enter(body: LargeBody): BytesShare {
    const line = this.lineOf(body.tenant);
    const share = new Share(this, body);
    if (line.waiting.size === 0 && this.fits(line, body)) this.begin(line, share);
    else if (!body.isExempt && this.isFull(line)) throw this.refusal();
    else share.granted = this.wait(line, share);
    return share;
  }

  /** Refuses a request of a tenant of whom no more may wait. @throws a 429 */
  throwIfFull(tenant: string, isExempt: boolean): void {
    const line = isExempt ? undefined : this.lines.get(tenant);
    if (line !== undefined && this.isFull(line)) throw this.refusal();
  }

  /** Called by the share alone, with the duration of the work. */
  leave(share: Share, workMs: number): void {
    const { restFactor, longestRestMs } = this.limits;
    const restMs = Math.min(workMs * restFactor, longestRestMs);
    if (share.body.isExempt || restMs < 1 || !this.hasOthers()) this.giveBack(share);
    else this.timers.after(restMs, () => this.giveBack(share));
  }

  /** The time of the timers. */
  elapsed(): number {
    return this.timers.elapsed();
  }

  private giveBack(share: Share): void {
    const { tenant } = share.body;
    const line = this.lines.get(tenant);
    if (line === undefined) return;
    if (share.isSlow) line.slow -= share.body.bytes;
    else line.quick -= share.body.bytes;
    this.total -= share.body.bytes;
    this.settle(tenant, line);
    this.advance();
  }

  private lineOf(tenant: string): Line {
    let line = this.lines.get(tenant);
    if (line === undefined) {
      line = { quick: 0, slow: 0, waitingRead: 0, waiting: new Set() };
      this.lines.set(tenant, line);
    }
    return line;
  }

  private isFull({ waiting, waitingRead }: Line): boolean {
    return waiting.size >= this.limits.waitingOfTenant || waitingRead >= this.limits.waitingReadBytes;
  }

  private settle(tenant: string, { quick, slow, waiting }: Line): void {
    if (quick === 0 && slow === 0 && waiting.size === 0) this.lines.delete(tenant);
  }

  private fits({ quick, slow }: Line, { bytes, isExempt }: LargeBody): boolean {
    const { tenantBytes, slowTenantBytes, totalBytes } = this.limits;
    if (!isExempt && this.total > 0 && this.total + bytes > totalBytes) return false;
    return quick === 0 || (quick + bytes <= tenantBytes && quick + slow + bytes <= slowTenantBytes);
  }

  private begin(line: Line, share: Share): void {
    line.quick += share.body.bytes;
    this.total += share.body.bytes;
    share.begun(this.timers.after(this.limits.slowMs, () => this.slow(share)));
  }

  private wait(line: Line, share: Share): Promise<void> {
    return new Promise((resolve, reject) => {
      const { tenant, bytes, waitMs, isExempt, isRead } = share.body;
      const readBytes = isRead === true ? bytes : 0;
      const end = () => {
        line.waiting.delete(waiter);
        line.waitingRead -= readBytes;
        cancelTimer?.();
      };
      const waiter: Waiter = {
        share,
        start: () => {
          end();
          this.begin(line, share);
          resolve();
        },
      };
      const giveUp = (error: Error) => {
        if (!line.waiting.has(waiter)) return;
        end();
        this.settle(tenant, line);
        reject(error);
        // The next one may need fewer bytes.
        this.advance();
      };
      const cancelTimer = isExempt ? undefined : this.timers.after(waitMs, () => giveUp(this.refusal()));
      share.giveUp = () => giveUp(tooManyRequestsError(1));
      line.waiting.add(waiter);
      line.waitingRead += readBytes;
    });
  }

  /** Lets the next request of the tenant begin while this client sends slowly, as far as memory allows. */
  private slow(share: Share): void {
    const line = this.lines.get(share.body.tenant);
    if (line === undefined || line.slow + share.body.bytes > this.limits.slowTenantBytes) return;
    share.isSlow = true;
    line.quick -= share.body.bytes;
    line.slow += share.body.bytes;
    this.advance();
  }

  private advance(): void {
    for (let isAny = true; isAny; ) {
      isAny = false;
      for (const [tenant, line] of [...this.lines]) {
        const [next] = line.waiting;
        if (next === undefined || !this.fits(line, next.share.body)) continue;
        next.start();
        isAny = true;
        // Its next turn comes after those of all others.
        this.lines.delete(tenant);
        this.lines.set(tenant, line);
      }
    }
  }

  private refusal(): Error {
    this.refused++;
    return tooManyRequestsError(1);
  }
}

/** The bytes of one request, or its place in line. */
export interface BytesShare {
  /** Undefined if the body may be read now. Otherwise resolves when it may; rejects with a 429. */
  readonly granted: Promise<void> | undefined;
  /** Called when the body is there. */
  arrived(): void;
  /** Gives the bytes back, or leaves the line. Further calls do nothing. */
  leave(): void;
}

class Share implements BytesShare {
  granted: Promise<void> | undefined;
  isSlow = false;
  giveUp: (() => void) | undefined;
  private cancelTimer: (() => void) | undefined;
  private arrivedAt: number | undefined;
  private state: 'waiting' | 'inHand' | 'over' = 'waiting';

  constructor(
    private readonly all: BytesInHand,
    readonly body: LargeBody,
  ) {}

  begun(cancelTimer: () => void): void {
    this.state = 'inHand';
    this.cancelTimer = cancelTimer;
  }

  arrived(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.arrivedAt = this.all.elapsed();
  }

  leave(): void {
    const { state, arrivedAt } = this;
    this.state = 'over';
    this.cancelTimer?.();
    if (state === 'inHand') this.all.leave(this, arrivedAt === undefined ? 0 : this.all.elapsed() - arrivedAt);
    else if (state === 'waiting') this.giveUp?.();
  }
}
