import type { CallbackTimers } from '../../base/machinery/timers.js';

/** Time that passes only when the test advances it. */
export class ManualTimers implements CallbackTimers {
  private time = 0;
  private readonly due = new Map<() => void, number>();

  elapsed(): number {
    return this.time;
  }

  after(ms: number, callback: () => void): () => void {
    const entry = () => callback();
    this.due.set(entry, this.time + ms);
    return () => this.due.delete(entry);
  }

  soon(callback: () => void): void {
    setImmediate(callback);
  }

  pass(ms: number): void {
    this.time += ms;
    for (const [callback, at] of [...this.due]) {
      if (at <= this.time && this.due.delete(callback)) callback();
    }
  }
}
