import type { CallbackTimers } from '../../base/machinery/timers.js';

/** The timers that a queue set needs. */
export type QueueTimers = Pick<CallbackTimers, 'elapsed' | 'after'>;
