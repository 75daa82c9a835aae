import { tooManyRequestsError } from '../../../base/machinery/status-error.js';
import type { Metrics } from '../../../base/observability/metrics.js';
import type { Seat } from '../../flow-control/seat.js';

export type RequestKind = 'readOnly' | 'mutating' | 'unauthenticated';

/** Limits on concurrent requests; 0 means no limit (specification 8). */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
  /** Limit on anonymous requests, both reads and writes. */
  readonly unauthenticated: number;
}

/**
 * A request whose client does not send its body, or read its response, for this many milliseconds loses its seat if
 * another request needs it.
 */
export const patienceMs = 1000;

const readOnlyMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Counts concurrent requests and refuses those above the limit with a 429. A request is counted once its user is known,
 * so anonymous requests can't take the seats of others. If no seat is free, the request that has waited longest for its
 * client loses its seat: otherwise one user could keep all others out with bodies that never arrive and responses that
 * nobody reads. A partial response is useless, so a request whose client reads again gets the next free seat.
 */
export class InFlightLimiter {
  private readonly limited: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };
  private readonly exempt: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };
  /** Seats of requests that wait for their client, the longest wait first. */
  private readonly waiting = setOfEach<LimitedSeat>();
  /** Requests that have lost their seat and want it back, the longest wait first. */
  private readonly returning = setOfEach<() => void>();

  constructor(
    private readonly limits: InFlightLimits,
    private readonly metrics: Pick<Metrics, 'requestRejected' | 'setInFlight'>,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** The limit that applies to a method. */
  static kindOf(method: string): 'readOnly' | 'mutating' {
    return readOnlyMethods.has(method) ? 'readOnly' : 'mutating';
  }

  /** Throws a 429 when the limit is reached. An exempt request is never refused and takes no other request's seat. */
  enter(kind: RequestKind, isExempt: boolean): Seat {
    const limit = this.limits[kind];
    if (!isExempt && limit > 0 && this.isFull(kind)) {
      this.metrics.requestRejected(kind);
      throw tooManyRequestsError(1);
    }
    const counts = isExempt ? this.exempt : this.limited;
    const change = (by: 1 | -1) => {
      counts[kind] += by;
      const next = by < 0 && this.limited[kind] < limit ? first(this.returning[kind]) : undefined;
      // The seat is taken at once, so no other request can come in between.
      next?.();
      this.show(kind);
    };
    change(1);
    if (isExempt || limit === 0) return new LimitedSeat(change, undefined, this.elapsed);
    return new LimitedSeat(
      change,
      { waiting: this.waiting[kind], returning: this.returning[kind], isFull: () => this.isFull(kind) },
      this.elapsed,
    );
  }

  /** Whether all seats are taken, and none by a request that waits for its client. */
  private isFull(kind: RequestKind): boolean {
    while (this.limited[kind] >= this.limits[kind]) if (!this.takeFromWaiting(kind)) return true;
    return false;
  }

  private takeFromWaiting(kind: RequestKind): boolean {
    const longest = first(this.waiting[kind]);
    if (longest === undefined || this.elapsed() - longest.waitsSince < patienceMs) return false;
    if (longest.lose()) this.metrics.requestRejected(kind);
    return true;
  }

  private show(kind: RequestKind): void {
    this.metrics.setInFlight(kind, this.limited[kind] + this.exempt[kind]);
  }
}

function setOfEach<T>(): Record<RequestKind, Set<T>> {
  return { readOnly: new Set(), mutating: new Set(), unauthenticated: new Set() };
}

function first<T>(values: ReadonlySet<T>): T | undefined {
  for (const value of values) return value;
  return undefined;
}

/** The data that all requests of one kind share. */
interface Competition {
  readonly waiting: Set<LimitedSeat>;
  readonly returning: Set<() => void>;
  readonly isFull: () => boolean;
}

class LimitedSeat implements Seat {
  waitsSince = 0;
  private isTaken = true;
  private isOver = false;
  /** Ends the request; set while it waits for its body. */
  private giveUp: (() => void) | undefined;
  /** Wakes the request; set while it waits to get its seat back. */
  private goOn: (() => void) | undefined;

  /** @param others undefined: nobody needs the seat */
  constructor(
    private readonly change: (by: 1 | -1) => void,
    private readonly others: Competition | undefined,
    private readonly elapsed: () => number,
  ) {}

  leave(): void {
    this.isOver = true;
    this.stopWaiting();
    this.goOn?.();
    this.release();
  }

  waitForBody(giveUp: () => void): void {
    this.giveUp = giveUp;
    this.beginWaiting();
  }

  waitForReader(): void {
    this.giveUp = undefined;
    this.beginWaiting();
  }

  setRemote(): void {
    // Without flow control nobody knows who the others are that could get an extra seat.
  }

  stopWaiting(): void {
    this.giveUp = undefined;
    this.others?.waiting.delete(this);
  }

  /**
   * A request that lost its seat waits for a new one when its client reads again. A request that lost it while waiting
   * for its body has ended.
   */
  resume(): Promise<void> | undefined {
    this.stopWaiting();
    const { others } = this;
    if (this.isTaken || this.isOver || others === undefined) return undefined;
    if (!others.isFull()) {
      this.take();
      return undefined;
    }
    return new Promise((resolve) => {
      const takeBack = () => {
        this.goOn?.();
        this.take();
      };
      this.goOn = () => {
        this.goOn = undefined;
        others.returning.delete(takeBack);
        resolve();
      };
      others.returning.add(takeBack);
    });
  }

  /** Takes the seat away; returns whether this ends the request. */
  lose(): boolean {
    const { giveUp } = this;
    this.stopWaiting();
    if (giveUp !== undefined) this.isOver = true;
    this.release();
    giveUp?.();
    return giveUp !== undefined;
  }

  private beginWaiting(): void {
    if (!this.isTaken || this.others === undefined) return;
    this.waitsSince = this.elapsed();
    this.others.waiting.add(this);
  }

  private take(): void {
    this.isTaken = true;
    this.change(1);
  }

  private release(): void {
    if (!this.isTaken) return;
    this.isTaken = false;
    this.change(-1);
  }
}
