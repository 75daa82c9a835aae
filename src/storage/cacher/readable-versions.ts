import type { Timers } from '../../base/machinery/timers.js';
import type { Storage } from '../storage.interface.js';

/** How long a version that was readable is taken for readable by lists, in milliseconds. */
const LISTABLE_MS = 1_000;
/** How many such versions are remembered. */
const MOST_LISTABLE = 64;

/**
 * Which versions the database would still serve. The cache may hold older versions, but all processes must give the
 * same answer. Also, a version of a lost history must not be found in memory.
 */
export class ReadableVersions {
  private readonly inner: Storage;
  private readonly timers: Pick<Timers, 'elapsed'>;
  /** The oldest readable version, as the database last reported it. */
  private compactRevision = 0n;
  /** When versions were last found readable, the latest last. */
  private readonly listable = new Map<bigint, number>();

  constructor(inner: Storage, timers: Pick<Timers, 'elapsed'>) {
    this.inner = inner;
    this.timers = timers;
  }

  /** Asks the database whether it would still serve the version. Rejects as `Storage.compactRevision` does. */
  async isReadable(version: bigint): Promise<boolean> {
    const compactRevision = await this.inner.compactRevision();
    if (compactRevision > this.compactRevision) this.compactRevision = compactRevision;
    return version >= compactRevision && !this.isLost(version);
  }

  /**
   * Like {@link isReadable} for a list, except that a version that was readable a moment ago still counts as such: the
   * pages of a list mostly follow each other at once, and would all wait for the database.
   */
  async isListable(version: bigint): Promise<boolean> {
    const now = this.timers.elapsed();
    const asked = this.listable.get(version);
    if (asked !== undefined && now - asked < LISTABLE_MS && !this.isKnownGone(version)) return true;
    if (!(await this.isReadable(version))) return false;
    this.noteListable(version, now);
    return true;
  }

  /** Notes that a version was readable at that time, by the timers. */
  noteListable(version: bigint, at: number): void {
    this.listable.delete(version);
    this.listable.set(version, at);
    const [oldest] = this.listable.keys();
    if (this.listable.size > MOST_LISTABLE) this.listable.delete(oldest as bigint);
  }

  /** Whether the version is known to be unreadable, without asking the database. */
  isKnownGone(version: bigint): boolean {
    return version < this.compactRevision || this.isLost(version);
  }

  private isLost(version: bigint): boolean {
    const lost = this.inner.lostVersions();
    return lost !== undefined && version > lost.after && version < lost.until;
  }
}
