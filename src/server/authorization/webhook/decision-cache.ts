import type { AuthorizationDecision } from '../../../base/machinery/authorizer.js';

interface Entry {
  readonly decision: AuthorizationDecision;
  readonly until: number;
}

/** Cached decisions by review, until they expire. When the cache is full, the least recently used one is removed. */
export class DecisionCache {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly maxEntries: number) {}

  get size(): number {
    return this.entries.size;
  }

  /** @param now milliseconds since the epoch */
  get(key: string, now: number): AuthorizationDecision | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    if (now >= entry.until) return undefined;
    this.entries.set(key, entry);
    return entry.decision;
  }

  /** @param until when the decision expires, in milliseconds since the epoch */
  set(key: string, decision: AuthorizationDecision, until: number): void {
    this.entries.delete(key);
    this.entries.set(key, { decision, until });
    if (this.entries.size <= this.maxEntries) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      break;
    }
  }
}
