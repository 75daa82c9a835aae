import type { FlowSubject } from './flow-subject.js';
import type { PriorityLevel } from './priority-level.js';
import type { RejectReason, Ticket } from './queue.js';
import type { QueueTimers } from './queue-timers.js';
import type { Seat } from './seat.js';

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: () => void;
}

/** The seats of one request in its level, or its place in a queue. */
export class FlowSeat implements Seat {
  /**
   * Undefined if the request has its seats. Otherwise resolves when it gets them, and rejects when it will not get
   * them.
   */
  readonly granted: Promise<void> | undefined;
  private waiter: Waiter | undefined;

  /**
   * @param waitMs how long it may wait in a queue
   * @param refuse counts a refusal and makes its error
   */
  constructor(
    private readonly ticket: Ticket<FlowSubject>,
    private readonly level: PriorityLevel,
    private readonly waitMs: number,
    private readonly timers: QueueTimers,
    private readonly anonymousSeat: Seat | undefined,
    private readonly refuse: (reason: RejectReason) => Error,
  ) {
    this.granted = ticket.state === 'waiting' ? this.wait() : undefined;
  }

  /** Releases the seats, or leaves the queue. */
  leave(): void {
    this.anonymousSeat?.leave();
    if (this.ticket.state === 'waiting') this.giveUp('cancelled');
    else this.level.requests.leave(this.ticket);
  }

  waitForReader(): void {
    this.waitForBody();
  }

  waitForBody(): void {
    // An exempt request takes no seats from others.
    if (!this.level.share.isExempt) this.level.requests.beginIdle(this.ticket);
  }

  setRemote(isRemote: boolean): void {
    if (!this.level.share.isExempt) this.level.requests.setRemote(this.ticket, isRemote);
  }

  stopWaiting(): void {
    // The caller calls resume() or leave() next.
  }

  resume(): Promise<void> | undefined {
    switch (this.level.requests.endIdle(this.ticket)) {
      case 'running':
      case 'gone':
        return undefined;
      case 'waiting':
        return this.wait();
      case 'concurrency-limit':
        return Promise.reject(this.refuse('concurrency-limit'));
    }
  }

  private wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancelTimer = this.timers.after(this.waitMs, () => this.giveUp('time-out'));
      this.waiter = { resolve, reject, cancelTimer };
      this.ticket.onDispatch = () => {
        cancelTimer();
        this.waiter = undefined;
        resolve();
      };
    });
  }

  private giveUp(reason: 'time-out' | 'cancelled'): void {
    const { ticket, waiter } = this;
    if (!this.level.requests.cancel(ticket)) return;
    const waited = (this.timers.elapsed() - ticket.arrivedAt) / 1000;
    ticket.subject.schema.series.waited.false.observe(waited);
    this.waiter = undefined;
    waiter?.cancelTimer();
    waiter?.reject(this.refuse(reason));
  }
}
