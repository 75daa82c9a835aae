import { messageTimes } from './message-times.js';

interface Kept {
  readonly message: Buffer;
  readonly places: readonly number[];
  readonly isNegative: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly since: number;
  readonly until: number;
}

export interface AnswerCacheOptions {
  /** The longest time that a response is cached; 0: not at all. */
  readonly longestMs: number;
  readonly mostEntries: number;
  /** Longer responses are not cached. */
  readonly mostBytesEach: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

export type CacheKind = 'success' | 'denial';

/**
 * Responses of other servers, for as long as their records allow. When there are too many, the oldest ones are dropped.
 */
export class AnswerCache {
  private readonly kept = new Map<string, Kept>();
  private readonly counts = { success: 0, denial: 0 };

  constructor(private readonly options: AnswerCacheOptions) {}

  size(kind: CacheKind): number {
    return this.counts[kind];
  }

  /** A copy of the response with its remaining times; undefined when there is none. */
  get(key: string): { readonly message: Buffer; readonly kind: CacheKind } | undefined {
    const found = this.kept.get(key);
    if (found === undefined) return undefined;
    const now = this.options.elapsed();
    if (now >= found.until) {
      this.remove(key, found);
      return undefined;
    }
    const message = Buffer.from(found.message);
    const passed = Math.floor((now - found.since) / 1000);
    for (const place of found.places) message.writeUInt32BE(Math.max(0, message.readUInt32BE(place) - passed), place);
    return { message, kind: kindOf(found) };
  }

  /** Caches a response if that is allowed. */
  set(key: string, message: Buffer): void {
    const { longestMs, mostEntries, mostBytesEach, elapsed } = this.options;
    if (longestMs === 0 || message.length > mostBytesEach) return;
    const times = messageTimes(message);
    if (times === undefined || times.keepSeconds === 0) return;
    const before = this.kept.get(key);
    if (before !== undefined) this.remove(key, before);
    const since = elapsed();
    const until = since + Math.min(longestMs, times.keepSeconds * 1000);
    const kept = { message: Buffer.from(message), places: times.places, isNegative: times.isNegative, since, until };
    this.kept.set(key, kept);
    this.counts[kindOf(kept)] += 1;
    while (this.kept.size > mostEntries) {
      const [oldest] = this.kept;
      if (oldest !== undefined) this.remove(...oldest);
    }
  }

  private remove(key: string, kept: Kept): void {
    this.kept.delete(key);
    this.counts[kindOf(kept)] -= 1;
  }
}

function kindOf({ isNegative }: Kept): CacheKind {
  return isNegative ? 'denial' : 'success';
}
