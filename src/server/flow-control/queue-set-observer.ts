import type { Ticket } from './queue.js';

/** Receives events of requests. */
export interface QueueSetObserver<T> {
  queued?(ticket: Ticket<T>, queueLength: number): void;
  /** The request left its queue, whether it runs or not. */
  unqueued?(ticket: Ticket<T>): void;
  dispatched?(ticket: Ticket<T>): void;
  /** The initial seats of the request were released. */
  left?(ticket: Ticket<T>): void;
  /** The request is first in its queue, but its seats are not free. */
  blocked?(ticket: Ticket<T>): void;
  /** The number of seats in use or requested has changed. */
  changed?(seatsInUse: number, seatsWaiting: number): void;
}
