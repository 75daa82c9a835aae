import { type Observations, type Shortage, shortages, type Threshold } from './eviction.js';

/** Remembers since what time each threshold has been passed. */
export class Shortages {
  private readonly since = new Map<Threshold, number>();
  private reclaiming: ReadonlySet<Threshold> = new Set();

  constructor(private readonly thresholds: readonly Threshold[]) {}

  /** The thresholds that are passed now. */
  look(seen: Observations, now: number): Shortage[] {
    const found = shortages(this.thresholds, seen, this.reclaiming);
    const rules = new Set(found.map(({ rule }) => rule));
    for (const rule of this.since.keys()) if (!rules.has(rule)) this.since.delete(rule);
    for (const rule of rules) if (!this.since.has(rule)) this.since.set(rule, now);
    const due = this.due(found, now);
    this.reclaiming = new Set(due.map(({ rule }) => rule));
    return found;
  }

  /** The thresholds for which pods must end, memory first. */
  due(found: readonly Shortage[], now: number): Shortage[] {
    return found
      .filter(({ rule }) => now - (this.since.get(rule) ?? now) >= (rule.graceMs ?? 0))
      .sort((a, b) => Number(b.signal === 'memory.available') - Number(a.signal === 'memory.available'));
  }
}
