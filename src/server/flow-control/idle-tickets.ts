import { LinkedItems } from '../../base/machinery/linked-items.js';
import type { Ticket } from './queue.js';
import type { QueueTimers } from './queue-timers.js';

/** How long a request waits for its client before it can lose its seats to others, in milliseconds. */
export const idlePatienceMs = 100;
/** Maximum total wait in milliseconds, since a client that sends a little now and then delays others too. */
export const idleAllowanceMs = 1000;

/** Requests with seats that wait for their clients, the longest wait first. */
export class IdleTickets<T> {
  private readonly tickets = new LinkedItems<Ticket<T>>();
  private wide = 0;
  private cancelCheck: (() => void) | undefined;

  /** @param onDue called when a request may lose its seats after {@link checkLater} */
  constructor(
    private readonly timers: QueueTimers,
    private readonly onDue: () => void,
  ) {}

  get size(): number {
    return this.tickets.size;
  }

  /** The number of these requests that take more than one seat. */
  get wideSize(): number {
    return this.wide;
  }

  /** Adds a request that waits for its client, or removes one. May be repeated. */
  set(ticket: Ticket<T>, isIdle: boolean): void {
    const { idlePlace } = ticket;
    if ((idlePlace !== undefined) === isIdle) return;
    ticket.idlePlace = isIdle ? this.tickets.add(ticket) : undefined;
    if (idlePlace !== undefined) this.tickets.remove(idlePlace);
    if (ticket.work.initialSeats > 1) this.wide += isIdle ? 1 : -1;
  }

  /** The requests that may lose their seats now. */
  due(): Ticket<T>[] {
    const now = this.timers.elapsed();
    return [...this.tickets].filter((ticket) => patienceWith(ticket, now) <= 0);
  }

  /** Calls `onDue` when the next request has waited long enough. */
  checkLater(): void {
    if (this.tickets.size === 0 || this.cancelCheck !== undefined) return;
    const now = this.timers.elapsed();
    let wait = idlePatienceMs;
    for (const ticket of this.tickets) wait = Math.min(wait, patienceWith(ticket, now));
    this.cancelCheck = this.timers.after(Math.max(1, wait), () => {
      this.cancelCheck = undefined;
      this.onDue();
    });
  }
}

/** How much longer a request that waits for its client keeps its seats, in milliseconds. */
function patienceWith({ idleSince, idledMs }: Ticket<unknown>, now: number): number {
  const waited = now - (idleSince ?? now);
  return Math.max(0, Math.min(idlePatienceMs, idleAllowanceMs - idledMs) - waited);
}
