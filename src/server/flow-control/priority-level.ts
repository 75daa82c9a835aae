import type { PriorityLevelConfigurationSpec } from '../../objects/apis/flowcontrol/v1/priority-level-configuration.types.js';
import type { FlowSubject } from './flow-subject.js';
import { LevelUtilization } from './level-utilization.js';
import type { Queuing } from './queue.js';
import { QueueSet } from './queue-set.js';
import type { QueueSetObserver } from './queue-set-observer.js';
import type { QueueTimers } from './queue-timers.js';
import { SeatDemand } from './seat-demand.js';
import type { SeatLimits, SeatShare } from './seat-limits.js';
import { type SeatBounds, seatBounds } from './work-estimator.js';

/** The configuration of a level. */
export interface LevelSettings {
  readonly name: string;
  /** Empty for a level that exists in this process only, until its object is created. */
  readonly uid: string;
  readonly spec: PriorityLevelConfigurationSpec;
}

const defaultShares = 30;

/** The share of the seats that a level's spec requests. */
export function seatShareOf({ type, limited, exempt }: PriorityLevelConfigurationSpec): SeatShare {
  if (type === 'Exempt') {
    return {
      shares: exempt?.nominalConcurrencyShares ?? 0,
      lendablePercent: exempt?.lendablePercent ?? 0,
      borrowingLimitPercent: undefined,
      isExempt: true,
    };
  }
  return {
    shares: limited?.nominalConcurrencyShares ?? defaultShares,
    lendablePercent: limited?.lendablePercent ?? 0,
    borrowingLimitPercent: limited?.borrowingLimitPercent ?? undefined,
    isExempt: false,
  };
}

function queuingOf({ limited }: PriorityLevelConfigurationSpec): Queuing | undefined {
  const response = limited?.limitResponse;
  return response?.type === 'Queue' ? response.queuing : undefined;
}

function mostWaitingOf(queuing: Queuing | undefined): number {
  return queuing === undefined ? 0 : queuing.queues * queuing.queueLengthLimit;
}

/**
 * A priority level in effect: its queues, its limits and its counts. A level whose object is gone continues until the
 * last of its requests is done (`isQuiescing`), and keeps its share until then.
 */
export class PriorityLevel {
  readonly name: string;
  readonly requests: QueueSet<FlowSubject>;
  readonly demand: SeatDemand;
  readonly utilization: LevelUtilization;
  /** Maximum number of requests that can wait, in all queues together. */
  mostWaiting = 0;
  uid = '';
  share: SeatShare;
  limits: SeatLimits = { nominal: 0, lower: 0, upper: 0 };
  bounds: SeatBounds = seatBounds(0);
  isQuiescing = false;
  /**
   * Number of seats that the level may currently use, which may be more or fewer than its nominal limit. Has no meaning
   * for an exempt level.
   */
  currentSeats = 0;
  targetSeats = 0;
  smoothedDemand = 0;
  /** The demand in the period before the last adjustment. */
  lastDemand = { average: 0, deviation: 0, highest: 0 };
  readonly counts = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };
  /** Requests refused since the last adjustment. */
  private refusals = 0;
  private retryAfter = 1;

  constructor(
    { name, uid, spec }: LevelSettings,
    timers: QueueTimers,
    observer: QueueSetObserver<FlowSubject>,
    mayStart: (subject: FlowSubject) => boolean,
  ) {
    this.name = name;
    this.share = seatShareOf(spec);
    this.demand = new SeatDemand(timers.elapsed);
    this.utilization = new LevelUtilization(timers.elapsed);
    this.mostWaiting = mostWaitingOf(queuingOf(spec));
    this.requests = new QueueSet<FlowSubject>(
      timers,
      this.share.isExempt ? Number.POSITIVE_INFINITY : 1,
      queuingOf(spec),
      {
        ...observer,
        changed: (inUse, waiting) => {
          this.demand.set(inUse + waiting);
          this.utilization.update(this);
          observer.changed?.(inUse, waiting);
        },
      },
      mayStart,
    );
    this.uid = uid;
  }

  /** Applies changed settings; those of current requests stay unchanged. */
  configure({ uid, spec }: LevelSettings): void {
    this.uid = uid;
    this.share = seatShareOf(spec);
    this.isQuiescing = false;
    const queuing = queuingOf(spec);
    this.mostWaiting = mostWaitingOf(queuing);
    this.requests.setQueuing(queuing);
  }

  /** Applies new fixed limits, which also reset the current limit. */
  setLimits(limits: SeatLimits): void {
    const { nominal, lower, upper } = this.limits;
    if (limits.nominal === nominal && limits.lower === lower && limits.upper === upper) return;
    this.limits = limits;
    this.bounds = seatBounds(limits.nominal);
    this.setCurrent(limits.nominal);
  }

  setCurrent(seats: number): void {
    this.currentSeats = seats;
    this.requests.setLimit(this.share.isExempt ? Number.POSITIVE_INFINITY : seats);
  }

  /** Whether the level's object is gone and the level can be removed. */
  get isDone(): boolean {
    return this.isQuiescing && this.requests.isIdle;
  }

  /** Counts a refusal. Returns how many seconds the client should wait before it retries. */
  refuse(): number {
    this.refusals++;
    return this.retryAfter;
  }

  /** Must be called every second: the more requests are refused, the later clients are asked to retry. */
  adjustRetryAfter(): void {
    const refused = this.refusals;
    this.refusals = 0;
    if (refused >= manyRefusals * this.retryAfter) this.retryAfter = Math.min(longestRetrySeconds, this.retryAfter * 2);
    else if (refused < fewRefusals * this.retryAfter && this.retryAfter > 1) this.retryAfter--;
  }
}

const longestRetrySeconds = 32;
/**
 * The retry time rises above `manyRefusals`, and falls below `fewRefusals`, per second and per second of retry time.
 */
const manyRefusals = 10;
const fewRefusals = 3;
