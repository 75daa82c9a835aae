import { Logger } from '../../base/observability/logger.js';

/** How long a process may take to stop in an orderly way after a fault, in milliseconds, before it is ended. */
const stopWithinMs = 120_000;

export interface LastResortOptions {
  /** Stops the process in an orderly way; called once, at the first fault. */
  readonly stop: () => void;
  /** Ends the process at once; called when it still runs after the time for the stop. */
  readonly exit: (code: number) => void;
  /** Emits the faults. Default: the process. */
  readonly events?: NodeJS.EventEmitter;
  /** How long a stop may take, in milliseconds. */
  readonly stopWithinMs?: number;
}

/**
 * Handles a fault that no boundary caught: an exception in a callback, a rejection that nobody awaits. The process
 * can't know which work is half done, so it must not continue for long. But dropping every request under way would let
 * one fault fail them all. So the fault is logged, readiness fails, and the process stops as it does on a signal, with
 * an exit code other than 0. States: watching, then faulty from the first fault on; later faults are only logged.
 */
export class LastResort {
  private logger = new Logger();
  private faulty = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly events: NodeJS.EventEmitter;
  private readonly onException = (error: unknown) => this.take('an exception that nobody caught', error);
  private readonly onRejection = (error: unknown) => this.take('a rejection that nobody awaited', error);

  constructor(private readonly options: LastResortOptions) {
    this.events = options.events ?? process;
    this.events.on('uncaughtException', this.onException);
    this.events.on('unhandledRejection', this.onRejection);
  }

  /** Whether there was a fault. */
  get isFaulty(): boolean {
    return this.faulty;
  }

  /** Sets the logger for faults from now on. */
  logTo(logger: Logger): void {
    this.logger = logger;
  }

  /** Restores the usual effect of faults: they end the process. */
  release(): void {
    clearTimeout(this.timer);
    this.events.off('uncaughtException', this.onException);
    this.events.off('unhandledRejection', this.onRejection);
  }

  private take(what: string, error: unknown): void {
    const isFirst = !this.faulty;
    this.faulty = true;
    this.logger.error(`${what}${isFirst ? '; the process stops' : ''}`, { error });
    if (!isFirst) return;
    this.timer = setTimeout(() => this.options.exit(1), this.options.stopWithinMs ?? stopWithinMs);
    this.timer.unref();
    try {
      this.options.stop();
    } catch (failure) {
      this.logger.error('could not stop', { error: failure });
      this.options.exit(1);
    }
  }
}
