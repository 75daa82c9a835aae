import { promises as fs } from 'node:fs';
import { errorText } from '../../../base/machinery/startup-error.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { InhibitorLock } from './inhibitor-lock.js';
import { Logind } from './logind.js';
import { hasSystemd } from './machine-state.js';

const busAddress = 'unix:path=/run/dbus/system_bus_socket';
/** Settings of the service, which are read in the order of their names. */
const settingsFolder = '/etc/systemd/logind.conf.d';
const settingsName = '99-plinth-node.conf';
const retryMs = 10_000;
const lookMs = 100;
const looks = 50;

export interface ShutdownWatchDependencies {
  /** How long pods have to end. */
  readonly totalMs: number;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Ends the pods. Resolves when that is done or its time is over. */
  readonly onShutdown: () => Promise<void>;
  /** The machine does not shut down after all. */
  readonly onCancel: () => void;
}

/** Delays shutdowns of a machine with systemd until its pods have ended. */
export class ShutdownWatch {
  private lock: InhibitorLock | undefined;
  private lastProblem = '';
  private isGoingDown = false;

  constructor(private readonly dependencies: ShutdownWatchDependencies) {}

  /** Holds the lock until the abort. Without systemd there is nothing to do: the stop signal alone ends the pods. */
  async run(signal: AbortSignal): Promise<void> {
    const { timers, logger } = this.dependencies;
    if (!(await hasSystemd())) return;
    while (!signal.aborted) {
      const problem = await this.watch(signal).then(() => 'the bus has closed the connection', errorText);
      // The bus ends with the machine.
      if (this.isGoingDown) return;
      this.release();
      if (signal.aborted) return;
      if (problem !== this.lastProblem) {
        logger.warn('pods end when this process is stopped, not before the machine shuts down', {
          error: problem,
        });
      }
      this.lastProblem = problem;
      await timers.wait(retryMs, signal);
    }
  }

  private async watch(signal: AbortSignal): Promise<void> {
    const { logger } = this.dependencies;
    const logind = await Logind.connect(busAddress);
    const ended = logind.ended();
    const stop = () => void logind.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await this.allowDelay(logind);
      await logind.onShutdown((begins) => void this.heard(begins).catch((error: unknown) => this.failed(error)));
      this.lock ??= await InhibitorLock.take();
      this.lastProblem = '';
      logger.info('shutdowns of the machine wait for the pods');
      if (!signal.aborted) await ended;
    } finally {
      signal.removeEventListener('abort', stop);
      await logind.close();
    }
  }

  private async heard(begins: boolean): Promise<void> {
    const { logger, onShutdown, onCancel } = this.dependencies;
    this.isGoingDown = begins;
    if (begins) {
      logger.info('the machine is shutting down: its pods are ended');
      await onShutdown();
      this.release();
      return;
    }
    logger.info('the shutdown of the machine was cancelled');
    onCancel();
    this.lock ??= await InhibitorLock.take();
  }

  private failed(error: unknown): void {
    this.dependencies.logger.warn('the shutdown of the machine cannot be delayed', { error: errorText(error) });
  }

  private release(): void {
    this.lock?.release();
    this.lock = undefined;
  }

  /** Makes sure that a shutdown can be delayed for as long as pods may need. @throws Error when it can't */
  private async allowDelay(logind: Logind): Promise<void> {
    const { totalMs, timers } = this.dependencies;
    if ((await logind.longestDelayMs()) >= totalMs) return;
    const seconds = Math.ceil(totalMs / 1000);
    await fs.mkdir(settingsFolder, { recursive: true });
    await fs.writeFile(
      `${settingsFolder}/${settingsName}`,
      `# Made by plinth node, for --shutdown-grace-period\n[Login]\nInhibitDelayMaxSec=${seconds}\n`,
    );
    await logind.reload();
    const never = new AbortController().signal;
    for (let look = 0; look < looks; look++) {
      if ((await logind.longestDelayMs()) >= totalMs) return;
      await timers.wait(lookMs, never);
    }
    throw new Error(`InhibitDelayMaxSec of systemd-logind is less than the ${seconds}s of the grace period`);
  }
}
