import type { Timers } from '../../../base/machinery/timers.js';

interface Entry<T> {
  readonly value: T;
  readonly until: number;
}

/** Keeps each value for a limited time. When the cache is full, the oldest values are dropped. */
export class TimedCache<T> {
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly timers: Timers,
    private readonly most = 4096,
  ) {}

  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > this.timers.elapsed()) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, value: T, keepMs: number): void {
    this.entries.delete(key);
    this.entries.set(key, { value, until: this.timers.elapsed() + keepMs });
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.most) break;
      this.entries.delete(oldest);
    }
  }
}
