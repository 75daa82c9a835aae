import { performance } from 'node:perf_hooks';
import type { ListPosition } from '../storage.interface.js';

/** The keys of all objects that may be selected at a version, and possibly of others, in order. */
export interface KeysAtVersion {
  readonly version: bigint;
  readonly keys: readonly ListPosition[];
  /**
   * When the search ran, by the clock of the process: keys of objects that are no longer selected accumulate over time.
   */
  readonly searchedAt: number;
}

const MOST_KEYS = 100_000;
/** The most results to keep of one search: lists that continue page by page each have a version of their own. */
const MOST_VERSIONS = 3;
const MOST_AGE_MS = 10 * 60_000;

/**
 * A cache of the keys that searches found, by the name of the search. The least recently used searches are dropped
 * first.
 */
export class FoundKeys {
  private readonly byName = new Map<string, { readonly era: string; readonly found: readonly KeysAtVersion[] }>();
  private size = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The keys at the version, or at the version with the fewest changes in between; without a version, the newest. */
  get(name: string, era: string, version: bigint | undefined): KeysAtVersion | undefined {
    const entry = this.byName.get(name);
    if (entry === undefined) return undefined;
    this.byName.delete(name);
    this.byName.set(name, entry);
    const found = entry.found.filter(({ searchedAt }) => this.now() - searchedAt <= MOST_AGE_MS);
    if (entry.era !== era || found.length === 0) {
      this.forget(name);
      return undefined;
    }
    // The newest is last.
    if (version === undefined) return found.at(-1);
    return found.findLast((one) => one.version <= version) ?? found[0];
  }

  put(name: string, era: string, keys: KeysAtVersion): void {
    const before = this.byName.get(name);
    const others = before?.era === era ? before.found.filter(({ version }) => version !== keys.version) : [];
    const found = [...others, keys].sort((a, b) => (a.version < b.version ? -1 : 1)).slice(-MOST_VERSIONS);
    this.forget(name);
    this.byName.set(name, { era, found });
    this.size += sizeOf(found);
    for (const oldest of this.byName.keys()) {
      if (this.size <= MOST_KEYS) break;
      this.forget(oldest);
    }
  }

  forget(name: string): void {
    this.size -= sizeOf(this.byName.get(name)?.found ?? []);
    this.byName.delete(name);
  }
}

function sizeOf(found: readonly KeysAtVersion[]): number {
  return found.reduce((sum, { keys }) => sum + 1 + keys.length, 0);
}
