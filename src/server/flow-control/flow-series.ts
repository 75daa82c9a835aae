import { BucketCounts } from './bucket-counts.js';
import type { RejectReason } from './queue.js';

const waitBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const executionBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const lengthBounds = [0, 10, 25, 50, 100, 250, 500, 1000];
const watcherBounds = [0, 1, 10, 100, 1000, 10_000];
const seatBounds = [1, 2, 4, 10];

/**
 * The counts of the requests of one schema in its level. These are plain numbers, since they are updated for every
 * request.
 */
export class FlowSeries {
  dispatched = 0;
  blocked = 0;
  inQueue = 0;
  inQueueSeats = 0;
  running = 0;
  runningSeats = 0;
  readonly rejected: Record<RejectReason, number> = {
    'concurrency-limit': 0,
    'queue-full': 0,
    'time-out': 0,
    cancelled: 0,
  };
  /** Seconds in a queue, for requests that got seats and for those that did not. */
  readonly waited = { true: new BucketCounts(waitBounds), false: new BucketCounts(waitBounds) };
  /** Seconds for which requests had seats. */
  readonly executed = { regular: new BucketCounts(executionBounds), watch: new BucketCounts(executionBounds) };
  readonly queueLengths = new BucketCounts(lengthBounds);
  readonly seats = new BucketCounts(seatBounds);
  /** How many watches receive a write. */
  readonly watchers = new BucketCounts(watcherBounds);

  constructor(
    readonly schema: string,
    readonly level: string,
  ) {}

  /** Whether the series has no current requests. */
  get isIdle(): boolean {
    return this.inQueue === 0 && this.running === 0;
  }
}
