import { tooManyRequestsError } from '../../machinery/status-error.js';
import type { Metrics } from '../../observability/metrics.js';

export type RequestKind = 'readOnly' | 'mutating' | 'unauthenticated';

/** Limits on requests under way at once; 0 means no limit (specification 8). */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
  /** Requests of nobody in particular, reading or not. */
  readonly unauthenticated: number;
}

/** A request that counts until it leaves. */
export interface Seat {
  /** Further calls do nothing. */
  leave(): void;
}

const readOnlyMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Counts requests that are under way and refuses those above the limit with a 429. Requests are counted once it is known
 * who sent them, so that those of nobody can't take the seats of others.
 */
export class InFlightLimiter {
  private readonly limited: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };
  private readonly exempt: Record<RequestKind, number> = { readOnly: 0, mutating: 0, unauthenticated: 0 };

  constructor(
    private readonly limits: InFlightLimits,
    private readonly metrics: Pick<Metrics, 'requestRejected' | 'setInFlight'>,
  ) {}

  /** Which limit a method counts against. */
  static kindOf(method: string): RequestKind {
    return readOnlyMethods.has(method) ? 'readOnly' : 'mutating';
  }

  /** Throws a 429 when the limit is reached. An exempt request is never refused, and takes the place of no other. */
  enter(kind: RequestKind, isExempt: boolean): Seat {
    const limit = this.limits[kind];
    if (!isExempt && limit > 0 && this.limited[kind] >= limit) {
      this.metrics.requestRejected(kind);
      throw tooManyRequestsError(1);
    }
    const counts = isExempt ? this.exempt : this.limited;
    counts[kind]++;
    this.show(kind);
    let isTaken = true;
    return {
      leave: () => {
        if (!isTaken) return;
        isTaken = false;
        counts[kind]--;
        this.show(kind);
      },
    };
  }

  private show(kind: RequestKind): void {
    this.metrics.setInFlight(kind, this.limited[kind] + this.exempt[kind]);
  }
}
