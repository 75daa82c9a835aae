import type { Change } from '../storage.interface.js';

/** A watcher that has not received everything yet. */
export interface LateWatcher {
  /** The owner of the watch; undefined: the process itself. */
  readonly owner: string | undefined;
  /** UTF-16 units of the JSON that the watcher has not received. */
  readonly queuedCharacters: number;
}

/** The most watches that are ended in one search. */
const MOST_ENDED = 100;
/** How much the backlog must have grown before it is searched again, as a share of the limit. */
const STEP_PART = 1 / 16;

/**
 * The changes that watchers of all resources have not received yet. Most watchers wait for the same ones, so each
 * change counts once; the changes that a cache keeps anyway don't count.
 */
export class WatchBacklog {
  private readonly holders = new Map<Change, number>();
  private readonly late = new Set<LateWatcher>();
  private total = 0;
  private checkedAt = 0;

  /** @param mostCharacters UTF-16 units of the JSON of the changes */
  constructor(private readonly mostCharacters: number) {}

  /** UTF-16 units of the JSON of all changes that some watcher has not received, including those that caches keep. */
  get characters(): number {
    return this.total;
  }

  /** Counts one more holder for each change of a batch. */
  hold(changes: readonly Change[]): void {
    for (const change of changes) {
      const count = this.holders.get(change) ?? 0;
      if (count === 0) this.total += change.json.length;
      this.holders.set(change, count + 1);
    }
  }

  /** Undoes one {@link hold}. */
  release(changes: readonly Change[]): void {
    for (const change of changes) {
      const count = this.holders.get(change) ?? 0;
      if (count > 1) this.holders.set(change, count - 1);
      else if (this.holders.delete(change)) this.total -= change.json.length;
    }
  }

  /** Adds a watcher with pending changes. */
  add(watcher: LateWatcher): void {
    this.late.add(watcher);
  }

  /** Removes a watcher that has received everything, or has ended. */
  delete(watcher: LateWatcher): void {
    this.late.delete(watcher);
  }

  /**
   * Ends watches while the backlog is too large: each time, of the owner whose watches have the largest backlog, the
   * watch that is furthest behind.
   *
   * @param isKept whether a cache keeps the change in any case
   * @param end ends a watch, which thereby leaves the backlog
   */
  relieve(isKept: (change: Change) => boolean, end: (watcher: LateWatcher) => void): void {
    if (this.total < this.checkedAt) this.checkedAt = Math.max(this.total, this.mostCharacters);
    if (this.total <= this.mostCharacters || this.total < this.checkedAt) return;
    for (let ended = 0; ended < MOST_ENDED && this.excess(isKept) > 0; ended++) {
      const slowest = this.slowest();
      if (slowest === undefined) break;
      end(slowest);
    }
    this.checkedAt = this.total + this.mostCharacters * STEP_PART;
  }

  private excess(isKept: (change: Change) => boolean): number {
    let characters = -this.mostCharacters;
    for (const change of this.holders.keys()) if (!isKept(change)) characters += change.json.length;
    return characters;
  }

  private slowest(): LateWatcher | undefined {
    const byOwner = new Map<string, { characters: number; slowest: LateWatcher }>();
    for (const watcher of this.late) {
      const { owner, queuedCharacters } = watcher;
      if (owner === undefined) continue;
      const known = byOwner.get(owner);
      if (known === undefined) byOwner.set(owner, { characters: queuedCharacters, slowest: watcher });
      else {
        known.characters += queuedCharacters;
        if (queuedCharacters > known.slowest.queuedCharacters) known.slowest = watcher;
      }
    }
    let most: { characters: number; slowest: LateWatcher } | undefined;
    for (const one of byOwner.values()) if (most === undefined || one.characters > most.characters) most = one;
    return most?.slowest;
  }
}
