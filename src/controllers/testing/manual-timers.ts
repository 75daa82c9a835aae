import type { Timers } from '../timers.js';

interface Wait {
  readonly due: number;
  readonly milliseconds: number;
  readonly end: () => void;
}

/** Time that passes only when a test says so. */
export class ManualTimers implements Timers {
  private time = 0;
  private readonly waits = new Set<Wait>();
  private readonly watchers = new Set<() => void>();

  constructor(private readonly startedAt = Date.parse('2030-01-01T00:00:00Z')) {}

  now(): number {
    return this.startedAt + this.time;
  }

  elapsed(): number {
    return this.time;
  }

  wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || milliseconds <= 0) {
        resolve();
        return;
      }
      const end = () => {
        this.waits.delete(wait);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const wait = { due: this.time + milliseconds, milliseconds, end };
      this.waits.add(wait);
      signal.addEventListener('abort', end);
      for (const watcher of this.watchers) watcher();
    });
  }

  /** Lets time pass; waits end in their order, each at its time. */
  advance(milliseconds: number): void {
    const until = this.time + milliseconds;
    for (;;) {
      const [next] = [...this.waits].filter((wait) => wait.due <= until).sort((a, b) => a.due - b.due);
      if (next === undefined) break;
      this.time = next.due;
      next.end();
    }
    this.time = until;
  }

  /** Resolves when somebody begins to wait after this call. */
  nextWait(): Promise<void> {
    return new Promise((resolve) => {
      const began = () => {
        this.watchers.delete(began);
        resolve();
      };
      this.watchers.add(began);
    });
  }

  /** Resolves once somebody waits for a time that `matches` (in milliseconds, as asked for). */
  waiting(matches: (milliseconds: number) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (![...this.waits].some((wait) => matches(wait.milliseconds))) return;
        this.watchers.delete(look);
        resolve();
      };
      this.watchers.add(look);
      look();
    });
  }
}
