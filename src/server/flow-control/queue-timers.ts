import type { CallbackTimers } from '../../base/machinery/timers.js';

/** The time of a queue set. */
export type QueueTimers = Pick<CallbackTimers, 'elapsed' | 'after'>;
