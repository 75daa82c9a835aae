import { performance } from 'node:perf_hooks';

/** Times of a thread: using a CPU, and active in total. */
export interface LoopClock {
  /** CPU time of this thread, in milliseconds. */
  cpuMs(): number;
  /** Milliseconds in which the event loop did not wait for events, with or without a CPU. */
  activeMs(): number;
}

/** The times of this thread. */
export const ownClock: LoopClock = {
  cpuMs: () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
  activeMs: () => performance.eventLoopUtilization().active,
};

/**
 * Measures for which fraction of its active time the thread had a CPU, between two calls of {@link take}. On a busy
 * machine the event loop is slow because other processes use the CPUs, and admitting fewer requests does not help.
 */
export class ProcessorShare {
  private cpu: number;
  private active: number;

  constructor(private readonly clock: LoopClock = ownClock) {
    this.cpu = clock.cpuMs();
    this.active = clock.activeMs();
  }

  /** Returns the fraction since the last call, between 0 and 1. */
  take(): number {
    const [cpu, active] = [this.clock.cpuMs(), this.clock.activeMs()];
    const passed = active - this.active;
    const share = passed <= 0 ? 1 : (cpu - this.cpu) / passed;
    this.cpu = cpu;
    this.active = active;
    return Math.min(1, Math.max(0, share));
  }
}
