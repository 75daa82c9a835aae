import type { QueueSet } from './queue-set.js';
import { TimedBuckets } from './timed-buckets.js';

const ratioBounds = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const demandBounds = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];

/** The current state of a level. */
interface MeasuredLevel {
  readonly requests: Pick<QueueSet<unknown>, 'seatsInUse' | 'seatsWaiting' | 'waiting' | 'running'>;
  readonly limits: { readonly nominal: number };
  readonly currentSeats: number;
  readonly mostWaiting: number;
}

/** How busy a level is, over time. */
export class LevelUtilization {
  readonly demand: TimedBuckets;
  readonly seats: TimedBuckets;
  readonly waiting: TimedBuckets;
  readonly executing: TimedBuckets;

  constructor(private readonly now: () => number) {
    const since = now();
    this.demand = new TimedBuckets(demandBounds, since);
    this.seats = new TimedBuckets(ratioBounds, since);
    this.waiting = new TimedBuckets(ratioBounds, since);
    this.executing = new TimedBuckets(ratioBounds, since);
  }

  /** Must be called after each change of the level. */
  update({ requests, limits, currentSeats, mostWaiting }: MeasuredLevel): void {
    const now = this.now();
    const nominal = Math.max(1, limits.nominal);
    const current = Math.max(1, currentSeats);
    this.demand.set((requests.seatsInUse + requests.seatsWaiting) / nominal, now);
    this.seats.set(requests.seatsInUse / current, now);
    this.waiting.set(mostWaiting === 0 ? 0 : requests.waiting / mostWaiting, now);
    this.executing.set(requests.running / current, now);
  }
}
