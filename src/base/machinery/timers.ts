import { performance } from 'node:perf_hooks';
import { type Clock, systemClock } from './clock.js';

/** The clock and timers of control loops, injected so that tests control time. */
export interface Timers extends Clock {
  /** Milliseconds from some fixed point, for measuring durations; never goes back. */
  elapsed(): number;
  /** Resolves after `milliseconds`, or as soon as `signal` is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/**
 * The timers of queues and caches, which must not wait for promises. A pending callback does not keep the process
 * alive.
 */
export interface CallbackTimers extends Pick<Timers, 'elapsed'> {
  /** Calls back once after the given number of milliseconds; the returned function cancels the call. */
  after(milliseconds: number, callback: () => void): () => void;
  /** Calls back after everything that is due now has run. */
  soon(callback: () => void): void;
}

/** The longest delay of the runtime's timers: a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemTimers: Timers & CallbackTimers = {
  now: () => systemClock.now(),
  elapsed: () => performance.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  },
  soon: (callback) => void setImmediate(callback),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      let left = milliseconds;
      const next = (): NodeJS.Timeout => {
        const part = Math.min(left, longestTimerMs);
        left -= part;
        return setTimeout(() => {
          if (left > 0) timer = next();
          else done();
        }, part);
      };
      let timer = next();
      signal.addEventListener('abort', done);
    }),
};
