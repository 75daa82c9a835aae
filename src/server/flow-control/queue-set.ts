import { invariant } from '../../base/machinery/invariant.js';
import { LinkedItems } from '../../base/machinery/linked-items.js';
import type { FlowHash } from './flow-hash.js';
import { IdleTickets } from './idle-tickets.js';
import { boundNextDispatch, narrowIn, type Queue, type Queuing, type RejectReason, Ticket } from './queue.js';
import type { QueueSetObserver } from './queue-set-observer.js';
import { QueueTable } from './queue-table.js';
import type { QueueTimers } from './queue-timers.js';
import { expectedSeconds, totalWork, type WorkEstimate } from './work.js';

/**
 * The extra seats for narrow requests of flows with few current requests, as a fraction of the limit. Flows share these
 * seats, so that a flow with a steady stream of gets does not wait until a long list of another flow ends.
 */
const besidePart = 0.1;

/**
 * Number of narrow requests that may exceed the concurrency target, shared by the queues that have requests; each queue
 * may have one in any case.
 */
const narrowAbovePace = 16;

/**
 * Gives the seats of one level to its requests, fairly between flows. Each flow has a few of the queues (its hand), and
 * a request joins the least loaded of these. The queues share the seats as if each were served continuously at the same
 * rate: virtual time R advances by the seat-seconds that each active queue could have had, a queue's next request
 * begins at `nextDispatchR`, and the queue whose next request would finish first is served. So a flow with many or wide
 * requests only delays itself.
 *
 * The queue set has no clock of its own, and no metrics.
 */
export class QueueSet<T> {
  private readonly queues: QueueTable<T>;
  /** Queues that have waiting requests. */
  private readonly filled = new Set<Queue<T>>();
  /** Running requests that belong to no queue. */
  private readonly unqueued = new LinkedItems<Ticket<T>>();
  private readonly idle: IdleTickets<T>;
  private active = 0;
  private inUse = 0;
  /** Number of current requests that take more than one seat. */
  private wide = 0;
  /** Number of running requests that wait for servers outside. */
  private remote = 0;
  /** Extra seats in use, which do not count against the limit. */
  private beside = 0;
  private wanted = 0;
  private waitingCount = 0;
  private runningCount = 0;
  private parked = 0;
  private pace = Number.POSITIVE_INFINITY;
  /** Virtual time, and when it was computed. */
  private r = 0;
  private rAt: number;
  /**
   * `r`: the virtual time when a request last left its queue; `s`: the virtual time at which that request was due to
   * begin.
   */
  lastDispatch = { r: 0, s: 0 };

  /**
   * @param limit seats; infinite for a level that never waits
   * @param mayStart whether a request may start now, whatever seats are free; otherwise others in its queue pass it
   */
  constructor(
    private readonly timers: QueueTimers,
    private limit: number,
    private queuing: Queuing | undefined,
    private readonly observer: QueueSetObserver<T> = {},
    private readonly mayStart: (subject: T) => boolean = () => true,
  ) {
    this.queues = new QueueTable(queuing);
    this.rAt = timers.elapsed();
    this.idle = new IdleTickets(timers, () => {
      this.advance();
      this.dispatch();
    });
  }

  get seatsInUse(): number {
    return this.inUse;
  }

  /** Number of seats that waiting requests need. */
  get seatsWaiting(): number {
    return this.wanted;
  }

  get waiting(): number {
    return this.waitingCount;
  }

  get running(): number {
    return this.runningCount;
  }

  get activeQueues(): number {
    return this.active;
  }

  get currentLimit(): number {
    return this.limit;
  }

  /** The current virtual time, in seat-seconds. */
  get currentR(): number {
    this.advance();
    return this.r;
  }

  /** Whether no request is running, waiting, or parked. */
  get isIdle(): boolean {
    return this.waitingCount === 0 && this.runningCount === 0 && this.parked === 0;
  }

  /** All queues, for reports. */
  *allQueues(): IterableIterator<Queue<T>> {
    yield* this.queues;
  }

  /** Running requests that belong to no queue, for reports. */
  *withoutQueue(): IterableIterator<Ticket<T>> {
    yield* this.unqueued;
  }

  setLimit(limit: number): void {
    if (limit === this.limit) return;
    this.advance();
    this.limit = limit;
    this.dispatch();
  }

  /**
   * Sets the concurrency target: the number of requests that may run concurrently, whatever their seats. Above the
   * target each queue may start its share of a few narrow requests, so that flows with small requests do not wait for
   * flows with large ones; a queue without running requests may start a wide one, while fewer wide ones run than the
   * target.
   */
  setPace(requests: number): void {
    if (requests === this.pace) return;
    this.advance();
    this.pace = requests;
    this.dispatch();
  }

  /** Looks for requests that may start by now. */
  wake(): void {
    if (this.waitingCount === 0) return;
    this.advance();
    this.dispatch();
  }

  /** Changes how later requests wait. Requests that are already waiting keep their queues. */
  setQueuing(queuing: Queuing | undefined): void {
    this.queuing = queuing;
    this.queues.setQueuing(queuing);
  }

  /**
   * Admits a request: it runs at once, waits, or is refused with a reason. For a waiting request, the caller sets
   * `onDispatch`.
   */
  enter(flow: FlowHash, work: WorkEstimate, subject: T): Ticket<T> | RejectReason {
    this.advance();
    const now = this.timers.elapsed();
    const { queuing } = this;
    if (queuing === undefined) {
      if (!this.fits(work.initialSeats) && !this.reclaim(work.initialSeats)) return 'concurrency-limit';
      const ticket = new Ticket<T>(subject, work, undefined, now, this.r);
      this.start(ticket);
      return ticket;
    }
    const queue = this.queues.choose(flow, queuing);
    const isItsTurn = this.mayStart(subject);
    const mayRun = isItsTurn && this.fits(work.initialSeats) && this.isInPace(queue, work);
    if (queue.waiting.length >= queuing.queueLengthLimit && !mayRun) return 'queue-full';
    const ticket = new Ticket<T>(subject, work, queue, now, this.r);
    // Requests of one flow are not ordered: a get need not wait for the list before it.
    const isNext = isItsTurn && narrowIn(queue, this.mayStart) === undefined;
    ticket.isBeside = isNext && !(this.waitingCount === 0 && mayRun) && this.mayRunBeside(queue, work);
    if (!queue.isActive) {
      this.active++;
      queue.nextDispatchR = this.r;
    }
    if (ticket.isBeside || (this.waitingCount === 0 && mayRun)) {
      queue.nextDispatchR = Math.max(queue.nextDispatchR, this.r) + totalWork(work);
      this.start(ticket);
      return ticket;
    }
    this.append(ticket, queue, false);
    this.dispatch();
    return ticket;
  }

  /** Removes a waiting request from its queue; false when it does not wait. */
  cancel(ticket: Ticket<T>): boolean {
    if (ticket.state !== 'waiting') return false;
    this.advance();
    const { queue } = ticket;
    if (queue === undefined) return false;
    this.unqueue(ticket, queue);
    ticket.state = 'gone';
    this.settle(queue);
    this.observer.unqueued?.(ticket);
    this.report();
    // The next request in the queue may need fewer seats.
    this.dispatch();
    return true;
  }

  /**
   * Called when the request is done. Its final seats, if any, stay occupied for a while. Further calls have no effect.
   */
  leave(ticket: Ticket<T>): void {
    if (ticket.state === 'parked') {
      this.unpark(ticket);
      ticket.state = 'gone';
      return;
    }
    if (ticket.state !== 'running') return;
    this.advance();
    const { finalSeats, additionalLatencyMs } = ticket.work;
    this.stop(ticket);
    if (finalSeats > 0 && additionalLatencyMs > 0) {
      ticket.state = 'final';
      this.inUse += finalSeats;
      this.timers.after(additionalLatencyMs, () => {
        this.advance();
        ticket.state = 'gone';
        this.inUse -= finalSeats;
        this.report();
        this.dispatch();
      });
    } else ticket.state = 'gone';
    this.report();
    this.dispatch();
  }

  /**
   * Called when the request begins to wait for its client. After a moment it can lose its seats to waiting requests.
   */
  beginIdle(ticket: Ticket<T>): void {
    if (ticket.state !== 'running') return;
    ticket.idleSince = this.timers.elapsed();
    this.idle.set(ticket, true);
    if (this.waitingCount === 0) return;
    this.idle.checkLater();
    // The idle request no longer counts against the concurrency target.
    this.advance();
    this.dispatch();
  }

  /** Called when the client has responded. `waiting`: the request has lost its seats and is now first in its queue. */
  endIdle(ticket: Ticket<T>): 'running' | 'waiting' | 'gone' | 'concurrency-limit' {
    if (ticket.idleSince !== undefined) ticket.idledMs += this.timers.elapsed() - ticket.idleSince;
    ticket.idleSince = undefined;
    this.idle.set(ticket, false);
    if (ticket.state === 'running') return 'running';
    if (ticket.state !== 'parked') return 'gone';
    this.advance();
    const { queue } = ticket;
    this.unpark(ticket);
    if (queue === undefined) {
      if (!this.fits(ticket.work.initialSeats) && !this.reclaim(ticket.work.initialSeats)) {
        ticket.state = 'gone';
        return 'concurrency-limit';
      }
      this.start(ticket);
      return 'running';
    }
    if (!queue.isActive) {
      this.active++;
      queue.nextDispatchR = Math.max(queue.nextDispatchR, this.r);
    }
    ticket.state = 'waiting';
    this.append(ticket, queue, true);
    this.dispatch();
    return (ticket.state as string) === 'running' ? 'running' : 'waiting';
  }

  /**
   * Called when a request with seats begins to wait for a server outside, and when it no longer does. It keeps its seats, but
   * uses no turns of the event loop, so that a few requests of other flows may run beside it.
   */
  setRemote(ticket: Ticket<T>, isRemote: boolean): void {
    if (ticket.state !== 'running' || ticket.isRemote === isRemote) return;
    this.countRemote(ticket, isRemote);
    if (!isRemote || this.waitingCount === 0) return;
    this.advance();
    this.dispatch();
  }

  private countRemote(ticket: Ticket<T>, isRemote: boolean): void {
    if (ticket.isRemote === isRemote) return;
    const now = this.timers.elapsed();
    ticket.remoteMs += now - (ticket.remoteSince ?? now);
    ticket.remoteSince = isRemote ? now : undefined;
    this.remote += isRemote ? 1 : -1;
  }

  /** Whether enough seats are free. A request that is wider than the level runs alone. */
  private fits(seats: number): boolean {
    const taken = this.inUse - this.beside;
    return taken === 0 || taken + seats <= this.limit;
  }

  /**
   * Whether a flow with few current requests may start a narrow one while wide requests of others, or requests that wait
   * for servers outside, occupy the seats. A few such requests get extra seats in addition to those of the level, so that
   * nobody waits for them.
   */
  private mayRunBeside(queue: Queue<T>, work: WorkEstimate): boolean {
    const { initialSeats } = work;
    if (initialSeats > 1 || (this.wide === 0 && this.remote === 0)) return false;
    if (this.runningCount - this.remote >= this.limit) return false;
    if (queue.isActive && !this.isInPace(queue, work)) return false;
    const most = Math.max(1, this.limit * besidePart);
    const part = Math.max(1, Math.floor(most / (this.active + (queue.isActive ? 0 : 1))));
    return queue.running.size < part && this.beside + initialSeats <= most;
  }

  private isInPace(queue: Queue<T>, { initialSeats }: WorkEstimate): boolean {
    // Requests that wait for their clients, or for servers outside, use no event-loop turns.
    if (this.runningCount - this.idle.size - this.remote < this.pace) return true;
    if (initialSeats === 1) {
      // The slow requests of one flow may use up the whole concurrency target for seconds, but short requests of other
      // flows must continue.
      const part = this.active > 1 ? Math.floor(narrowAbovePace / this.active) : 1;
      return queue.running.size < Math.max(1, part);
    }
    // Narrow requests of many flows may always exceed the target, so wide ones are counted separately.
    return queue.running.size === 0 && this.wide - this.idle.wideSize < this.pace;
  }

  private append(ticket: Ticket<T>, queue: Queue<T>, isFirst: boolean): void {
    if (isFirst) queue.waiting.unshift(ticket);
    else queue.waiting.push(ticket);
    queue.waitingWork += totalWork(ticket.work);
    queue.waitingSeats += ticket.work.initialSeats;
    this.filled.add(queue);
    this.waitingCount++;
    this.wanted += ticket.work.initialSeats;
    this.observer.queued?.(ticket, queue.waiting.length);
    this.report();
  }

  private unqueue(ticket: Ticket<T>, queue: Queue<T>): void {
    const at = queue.waiting.indexOf(ticket);
    queue.waiting.splice(at, 1);
    queue.waitingWork -= totalWork(ticket.work);
    queue.waitingSeats -= ticket.work.initialSeats;
    if (queue.waiting.length === 0) {
      queue.waitingWork = 0;
      this.filled.delete(queue);
    }
    this.waitingCount--;
    this.wanted -= ticket.work.initialSeats;
  }

  private start(ticket: Ticket<T>): void {
    const { queue } = ticket;
    ticket.state = 'running';
    ticket.startedAt = this.timers.elapsed();
    ticket.runningPlace = (queue?.running ?? this.unqueued).add(ticket);
    if (queue !== undefined) {
      queue.seatsInUse += ticket.work.initialSeats;
    }
    this.runningCount++;
    this.inUse += ticket.work.initialSeats;
    if (ticket.isBeside) this.beside += ticket.work.initialSeats;
    if (ticket.work.initialSeats > 1) this.wide++;
    this.observer.dispatched?.(ticket);
    this.report();
  }

  /** Releases the initial seats, and charges the queue for the time for which they were really occupied. */
  private stop(ticket: Ticket<T>): void {
    const { queue, work, runningPlace } = ticket;
    this.idle.set(ticket, false);
    this.countRemote(ticket, false);
    ticket.runningPlace = undefined;
    if (runningPlace !== undefined) (queue?.running ?? this.unqueued).remove(runningPlace);
    this.runningCount--;
    this.inUse -= work.initialSeats;
    if (ticket.isBeside) this.beside -= work.initialSeats;
    if (work.initialSeats > 1) this.wide--;
    ticket.isBeside = false;
    if (queue !== undefined) {
      const seconds = (this.timers.elapsed() - (ticket.startedAt ?? 0)) / 1000;
      queue.seatsInUse -= work.initialSeats;
      queue.nextDispatchR -= work.initialSeats * (expectedSeconds - seconds);
      boundNextDispatch(queue);
      this.settle(queue);
    }
    this.observer.left?.(ticket);
  }

  /** Called after a request has left a queue. */
  private settle(queue: Queue<T>): void {
    if (queue.isActive) return;
    this.active--;
    this.queues.dropIfDone(queue);
  }

  /** Advances virtual time by the share of the used seats that each active queue could have had. */
  private advance(): void {
    const now = this.timers.elapsed();
    const passed = (now - this.rAt) / 1000;
    this.rAt = now;
    if (this.active === 0 || passed <= 0) return;
    const seats = Math.min(this.inUse + this.wanted, this.limit);
    this.r += (passed * seats) / this.active;
  }

  /** Gives free seats to waiting requests. */
  private dispatch(): void {
    for (let next = this.nextStart(); next !== undefined; next = this.nextStart()) {
      const { queue, ticket } = next;
      const { initialSeats } = ticket.work;
      if (!this.fits(initialSeats) && !this.reclaim(initialSeats)) {
        this.observer.blocked?.(ticket);
        break;
      }
      this.startNext(queue, ticket);
    }
    for (const queue of this.filled) {
      const ticket = narrowIn(queue, this.mayStart);
      if (ticket === undefined || !this.mayRunBeside(queue, ticket.work)) continue;
      ticket.isBeside = true;
      this.startNext(queue, ticket);
    }
  }

  /** Starts a waiting request. */
  private startNext(queue: Queue<T>, ticket: Ticket<T>): void {
    this.unqueue(ticket, queue);
    this.lastDispatch = { r: this.r, s: queue.nextDispatchR };
    queue.nextDispatchR += totalWork(ticket.work);
    this.observer.unqueued?.(ticket);
    this.start(ticket);
    boundNextDispatch(queue);
    ticket.onDispatch?.();
  }

  /** The request that would finish first, among the first of each queue that may start; undefined if none may. */
  private nextStart(): { readonly queue: Queue<T>; readonly ticket: Ticket<T> } | undefined {
    let best: { readonly queue: Queue<T>; readonly ticket: Ticket<T> } | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    for (const queue of this.filled) {
      const ticket = queue.waiting.find(({ subject }) => this.mayStart(subject));
      if (ticket === undefined || !this.isInPace(queue, ticket.work)) continue;
      const end = queue.nextDispatchR + totalWork(ticket.work);
      if (end >= earliest && best !== undefined) continue;
      best = { queue, ticket };
      earliest = end;
    }
    return best;
  }

  /** Takes seats from requests that wait for their clients, until `seats` fit. */
  private reclaim(seats: number): boolean {
    for (const ticket of this.idle.due()) {
      // Parks the request before its seats are released, so that its queue is kept.
      this.park(ticket);
      this.stop(ticket);
      this.report();
      if (this.fits(seats)) return true;
    }
    this.idle.checkLater();
    return false;
  }

  private park(ticket: Ticket<T>): void {
    ticket.state = 'parked';
    ticket.hasRun = true;
    this.parked++;
    if (ticket.queue !== undefined) ticket.queue.parked++;
  }

  private unpark({ queue }: Ticket<T>): void {
    this.parked--;
    if (queue === undefined) return;
    queue.parked--;
    this.queues.dropIfDone(queue);
  }

  private report(): void {
    const { inUse, wanted, runningCount, waitingCount } = this;
    const isPossible = inUse >= 0 && wanted >= 0 && runningCount >= 0 && waitingCount >= 0;
    invariant(isPossible, 'seats and requests are never negative', inUse, wanted, runningCount, waitingCount);
    this.observer.changed?.(this.inUse, this.wanted);
  }
}
