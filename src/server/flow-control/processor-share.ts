import { performance } from 'node:perf_hooks';

/** Measures for how much of its busy time the thread had a processor. */
export interface LoopClock {
  /** Milliseconds of processor time of this thread. */
  cpuMs(): number;
  /** Milliseconds in which the event loop did not wait for events, with or without a processor. */
  activeMs(): number;
}

/** The times of this thread. */
const ownClock: LoopClock = {
  cpuMs: () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
  activeMs: () => performance.eventLoopUtilization().active,
};

/**
 * On a busy machine the event loop turns slowly because other processes have the processors. Then it does not help to
 * admit fewer requests. Between two calls of {@link take}, this is the part of the active time that was the thread's
 * own work.
 */
export class ProcessorShare {
  private cpu: number;
  private active: number;

  constructor(private readonly clock: LoopClock = ownClock) {
    this.cpu = clock.cpuMs();
    this.active = clock.activeMs();
  }

  /** Between 0 and 1, since the last call. */
  take(): number {
    const [cpu, active] = [this.clock.cpuMs(), this.clock.activeMs()];
    const passed = active - this.active;
    const share = passed <= 0 ? 1 : (cpu - this.cpu) / passed;
    this.cpu = cpu;
    this.active = active;
    return Math.min(1, Math.max(0, share));
  }
}
