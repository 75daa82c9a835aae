import { LinkedItems, type ListPlace } from '../../base/machinery/linked-items.js';
import type { WorkEstimate } from './work.js';

/** How requests wait; without queuing they are refused when no seat is free. */
export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Why a request is refused its seats. */
export type RejectReason = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled';

/**
 * One request in a queue set: `waiting` until it gets its seats, `running` until it is done, `final` while watchers are
 * being notified of its write, `parked` after it lost its seats while waiting for its client, and finally `gone`.
 */
export class Ticket<T> {
  state: 'waiting' | 'running' | 'final' | 'parked' | 'gone' = 'waiting';
  /** When the request got its seats, in milliseconds of the timers; undefined before that. */
  startedAt: number | undefined;
  /** Whether the request once had seats and lost them to others. */
  hasRun = false;
  /** Whether its seats are extra seats, which do not count against the limit. */
  isBeside = false;
  /** When the request began to wait for its client; undefined while it does not wait. */
  idleSince: number | undefined;
  /** How long the request waited for its client in earlier waits, in milliseconds. */
  idledMs = 0;
  /** When the request began to wait for a server outside; undefined while it does not wait. */
  remoteSince: number | undefined;
  /** How long the request waited for servers outside in earlier waits, in milliseconds. */
  remoteMs = 0;
  /** Notifies the waiting request that it has its seats now. */
  onDispatch: (() => void) | undefined;
  /** Its place among the running requests of its queue, or among those without a queue. */
  runningPlace: ListPlace<Ticket<T>> | undefined;
  /** Its place among the requests that wait for their clients. */
  idlePlace: ListPlace<Ticket<T>> | undefined;

  constructor(
    readonly subject: T,
    readonly work: WorkEstimate,
    readonly queue: Queue<T> | undefined,
    readonly arrivedAt: number,
    readonly arrivalR: number,
  ) {}

  /** Whether the request waits for a server outside, such as a webhook. */
  get isRemote(): boolean {
    return this.remoteSince !== undefined;
  }

  /** For how long the request has had its seats, without waits for its client and for servers outside, in milliseconds. */
  workedMs(now: number): number {
    const idledMs = this.idledMs + (this.idleSince === undefined ? 0 : now - this.idleSince);
    return Math.max(0, now - (this.startedAt ?? now) - idledMs - this.remoteMs);
  }
}

/** The waiting and running requests of a few flows, in order. */
export class Queue<T> {
  readonly waiting: Ticket<T>[] = [];
  readonly running = new LinkedItems<Ticket<T>>();
  seatsInUse = 0;
  /** Expected work of all waiting requests, in seat-seconds. */
  waitingWork = 0;
  waitingSeats = 0;
  /** Number of requests that lost their seats while they waited for their clients, and may return. */
  parked = 0;
  /** The virtual time at which the next request may begin, in seat-seconds. */
  nextDispatchR = 0;

  constructor(readonly index: number) {}

  get isActive(): boolean {
    return this.waiting.length > 0 || this.running.size > 0;
  }
}

/**
 * Moves the start of the next request up to the current virtual time: a queue gets no credit for time without requests.
 */
export function boundNextDispatch<T>(queue: Queue<T>): void {
  const [oldest] = queue.waiting;
  if (oldest !== undefined && queue.nextDispatchR < oldest.arrivalR) queue.nextDispatchR = oldest.arrivalR;
}

/** The first waiting request of a queue that takes one seat, and may start. */
export function narrowIn<T>({ waiting }: Queue<T>, mayStart: (subject: T) => boolean): Ticket<T> | undefined {
  return waiting.find(({ subject, work }) => work.initialSeats === 1 && mayStart(subject));
}
