import { tooManyRequestsError } from '../../machinery/status-error.js';
import type { Metrics } from '../../observability/metrics.js';

export type RequestKind = 'readOnly' | 'mutating';

/** Limits on requests under way at once; 0 means no limit (specification section 8). */
export interface InFlightLimits {
  readonly readOnly: number;
  readonly mutating: number;
}

const readOnlyMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Counts requests that are under way and refuses those above the limit with a 429. */
export class InFlightLimiter {
  private readonly counts: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };

  constructor(
    private readonly limits: InFlightLimits,
    private readonly metrics: Metrics,
  ) {}

  /** Which limit a method counts against. */
  static kindOf(method: string): RequestKind {
    return readOnlyMethods.has(method) ? 'readOnly' : 'mutating';
  }

  /** Throws a 429 when the limit is reached; else the request counts until {@link leave}. */
  enter(kind: RequestKind): void {
    const limit = this.limits[kind];
    if (limit > 0 && this.counts[kind] >= limit) {
      this.metrics.requestRejected(kind);
      throw tooManyRequestsError(1);
    }
    this.counts[kind]++;
    this.metrics.setInFlight(kind, this.counts[kind]);
  }

  /** Requests under way now. */
  get underWay(): number {
    return this.counts.readOnly + this.counts.mutating;
  }

  leave(kind: RequestKind): void {
    this.counts[kind]--;
    this.metrics.setInFlight(kind, this.counts[kind]);
  }
}
