import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import { OutageLog, type OutageLogger } from '../../base/observability/outage-log.js';

/** Time between two checks. It is short because clients in pods reach the API through one of the objects. */
const roundMs = 10_000;

/** Recreates objects that every cluster must have when a client has deleted them. */
export class SystemObjectsKeeper {
  private readonly outage: OutageLog;
  private running: Promise<void> | undefined;

  /** @param ensure creates the missing ones, also while other processes do */
  constructor(
    private readonly ensure: () => Promise<void>,
    logger: OutageLogger,
    private readonly timers: Pick<Timers, 'wait'> = systemTimers,
  ) {
    this.outage = new OutageLog(logger, {
      failed: 'cannot look after the objects that every cluster has',
      recovered: 'looks after the objects that every cluster has again',
    });
  }

  /** Checks in the background until the signal is aborted. */
  start(signal: AbortSignal): void {
    this.running ??= this.run(signal);
  }

  /** Resolves when the last check has ended after the signal is aborted. */
  async stopped(): Promise<void> {
    await this.running;
  }

  private async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.timers.wait(roundMs, signal);
      if (signal.aborted) return;
      try {
        await this.ensure();
        this.outage.worked();
      } catch (error) {
        if (!signal.aborted) this.outage.failed({ error });
      }
    }
  }
}
