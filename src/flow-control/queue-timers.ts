import type { QueueTimers } from './queue-set.js';

/** Real time. No timer keeps the process alive. */
export const systemQueueTimers: QueueTimers = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
