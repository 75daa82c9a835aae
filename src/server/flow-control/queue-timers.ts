/** Runs something once after a time; the returned function cancels it. */
export type After = (milliseconds: number, run: () => void) => () => void;

/** The time of a queue set: real, or that of a test. */
export interface QueueTimers {
  /** Milliseconds from a fixed point. */
  now(): number;
  readonly after: After;
}

/** Real time. No timer keeps the process alive. */
export const systemQueueTimers: QueueTimers = {
  now: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
