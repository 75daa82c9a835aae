import { Logger } from '../observability/logger.js';

/** Ends a process that its fault keeps from stopping in good order. */
const stopWithinMs = 120_000;

export interface LastResortOptions {
  /** Stops the process in good order; called once, at the first fault. */
  readonly stop: () => void;
  /** Ends the process at once; called when it is still there after its time. */
  readonly exit: (code: number) => void;
  /** Default: the process's own. */
  readonly events?: NodeJS.EventEmitter;
  /** How long a stop may take, in milliseconds. */
  readonly stopWithinMs?: number;
}

/**
 * What becomes of a fault that no boundary took: an exception in a callback, a rejection that nobody awaits. The process
 * can't know what is left half done, so it must not go on for long; but dropping every request under way would let one
 * fault end them all. So it is logged, readiness fails, and the process stops as on a signal, with an exit code that is
 * not 0. States: watching, then faulty from the first fault on; later faults are only logged.
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

  /** From now on faults are told in this log. */
  logTo(logger: Logger): void {
    this.logger = logger;
  }

  /** Gives faults their usual meaning back: the process ends. */
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
