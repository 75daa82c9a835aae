import { setTimeout as delay } from 'node:timers/promises';
import type { Timers } from '../../../base/machinery/timers.js';

interface Wait {
  readonly due: number;
  readonly milliseconds: number;
  readonly end: () => void;
}

/** The longest pause of work before it retries, in milliseconds. */
const longestPauseMs = 1000;
/** Real time without any progress after which a test counts as stalled, in milliseconds. */
export const stallMs = 10_000;
const patienceMs = 60_000;

/** Timers whose time passes only when a test advances it. */
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

  /** Advances time; each wait ends at its own time, in order. */
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

  /** Advances time step by step, like a real clock, until `happened` resolves. */
  async advanceUntil(milliseconds: number, happened: Promise<unknown>): Promise<void> {
    let isOver = false;
    const over = happened.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      this.advance(milliseconds);
      await delay(50);
    }
    await over;
  }

  /** Resolves when a wait begins after this call. */
  nextWait(): Promise<void> {
    return new Promise((resolve) => {
      const began = () => {
        this.watchers.delete(began);
        resolve();
      };
      this.watchers.add(began);
    });
  }

  /**
   * Ends short waits without advancing time. Work that met another write pauses before it tries again; a test that does
   * not know of the pause would wait forever.
   */
  endPauses(): void {
    for (const wait of [...this.waits]) if (wait.milliseconds <= longestPauseMs) wait.end();
  }

  /**
   * Resolves once a wait exists that `matches`: by the requested time and the remaining time, in milliseconds. Rejects
   * after a minute, with the existing waits.
   */
  waiting(matches: (milliseconds: number, leftMs: number) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      const end = () => {
        clearInterval(stall);
        this.watchers.delete(look);
      };
      const look = () => {
        if (![...this.waits].some((wait) => matches(wait.milliseconds, wait.due - this.time))) return;
        end();
        resolve();
      };
      const stall = setInterval(() => {
        if (performance.now() - began < patienceMs) {
          this.endPauses();
          return;
        }
        end();
        const waits = [...this.waits].map(({ milliseconds, due }) => `${milliseconds} (${due - this.time} left)`);
        reject(new Error(`none of these waits: ${waits.join(', ')}`));
      }, stallMs);
      stall.unref();
      this.watchers.add(look);
      look();
    });
  }
}
