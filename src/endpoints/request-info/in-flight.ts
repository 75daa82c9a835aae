import type { Seat } from '../../flow-control/seat.js';
import { tooManyRequestsError } from '../../machinery/status-error.js';
import type { Metrics } from '../../observability/metrics.js';

export type RequestKind = 'readOnly' | 'mutating' | 'unauthenticated';

/** Limits on concurrent requests; 0 means no limit (specification 8). */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
  /** Anonymous requests, reading or writing. */
  readonly unauthenticated: number;
}

/** A client that takes longer than this for a body loses its seat if another needs it, in milliseconds. */
export const bodyPatienceMs = 1000;

const readOnlyMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Counts concurrent requests and refuses those above the limit with a 429. A request is counted once its user is known,
 * so anonymous requests can't take the seats of others. If no seat is free, the request that has waited longest for its
 * body loses its seat: otherwise one user could keep all others out with bodies that never arrive.
 */
export class InFlightLimiter {
  private readonly limited: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };
  private readonly exempt: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };
  /** Seats of requests that wait for their body, the longest wait first. */
  private readonly waiting: Record<RequestKind, Set<LimitedSeat>> = {
    readOnly: new Set(),
    mutating: new Set(),
    unauthenticated: new Set(),
  };

  constructor(
    private readonly limits: InFlightLimits,
    private readonly metrics: Pick<Metrics, 'requestRejected' | 'setInFlight'>,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  /** The limit that a method counts against. */
  static kindOf(method: string): 'readOnly' | 'mutating' {
    return readOnlyMethods.has(method) ? 'readOnly' : 'mutating';
  }

  /** Throws a 429 when the limit is reached. An exempt request is never refused and takes no other request's place. */
  enter(kind: RequestKind, isExempt: boolean): Seat {
    const limit = this.limits[kind];
    if (!isExempt && limit > 0 && this.limited[kind] >= limit && !this.takeFromWaiting(kind)) {
      this.metrics.requestRejected(kind);
      throw tooManyRequestsError(1);
    }
    const counts = isExempt ? this.exempt : this.limited;
    counts[kind]++;
    this.show(kind);
    const left = () => {
      counts[kind]--;
      this.show(kind);
    };
    // Nobody needs the seat of an exempt request.
    return new LimitedSeat(left, isExempt ? undefined : this.waiting[kind], this.elapsed);
  }

  private takeFromWaiting(kind: RequestKind): boolean {
    const [longest] = this.waiting[kind];
    if (longest === undefined || this.elapsed() - longest.waitsSince < bodyPatienceMs) return false;
    this.metrics.requestRejected(kind);
    longest.lose();
    return true;
  }

  private show(kind: RequestKind): void {
    this.metrics.setInFlight(kind, this.limited[kind] + this.exempt[kind]);
  }
}

class LimitedSeat implements Seat {
  waitsSince = 0;
  private isTaken = true;
  private giveUp: (() => void) | undefined;

  constructor(
    private readonly left: () => void,
    private readonly waiting: Set<LimitedSeat> | undefined,
    private readonly elapsed: () => number,
  ) {}

  leave(): void {
    if (!this.isTaken) return;
    this.isTaken = false;
    this.stopWaiting();
    this.left();
  }

  waitForBody(giveUp: () => void): void {
    if (!this.isTaken || this.waiting === undefined) return;
    this.waitsSince = this.elapsed();
    this.giveUp = giveUp;
    this.waiting.add(this);
  }

  waitForReader(): void {
    // It could not get its seat back, and half of an answer is of no use. Its time limit ends it.
  }

  stopWaiting(): void {
    if (this.giveUp === undefined) return;
    this.giveUp = undefined;
    this.waiting?.delete(this);
  }

  resume(): undefined {
    // A seat that was lost is lost for good.
  }

  lose(): void {
    const { giveUp } = this;
    this.leave();
    giveUp?.();
  }
}
