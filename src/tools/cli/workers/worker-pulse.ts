import type { Timers } from '../../../base/machinery/timers.js';

const askEveryMs = 5_000;
/** How many pings a worker may leave unanswered. No work holds an event loop for nearly as long. */
const mostUnanswered = 6;
const mostUnansweredAtStart = 24;

/**
 * Notices that a worker hangs: that its event loop no longer turns. Such a worker keeps its connections, and their
 * clients would wait forever.
 *
 * It counts pings and not time. A parent that was frozen itself, or a whole machine that was, sends one ping when it
 * continues and considers no worker lost.
 */
export class WorkerPulse {
  private unanswered = 0;
  private limit = mostUnansweredAtStart;

  /** @param ask pings the worker; each answer is reported to `answered` */
  constructor(
    private readonly timers: Timers,
    private readonly ask: () => void,
  ) {}

  /** How long the worker may be silent, in milliseconds. */
  get longestSilenceMs(): number {
    return askEveryMs * this.limit;
  }

  /** Called when the worker has started. */
  ready(): void {
    this.unanswered = 0;
    this.limit = mostUnanswered;
  }

  answered(): void {
    this.unanswered = 0;
  }

  /** Pings until the worker is silent for too long; false when the signal is aborted before that. */
  async isLost(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      await this.timers.wait(askEveryMs, signal);
      if (signal.aborted) return false;
      if (this.unanswered >= this.limit) return true;
      this.unanswered++;
      this.ask();
    }
  }
}
