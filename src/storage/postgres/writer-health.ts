import { sqlState } from '../../base/database/sql-state.js';
import { StorageError } from '../storage-error.js';
import { unavailable } from './postgres-errors.js';

/** How long after a successful write the path of writes is assumed to work, in milliseconds. */
const PROVEN_MS = 5_000;
/** A batch that takes longer, in milliseconds, waits for a lock or for a disk that does not respond. */
const STUCK_MS = 3_000;
/**
 * How long a refused write makes the process unready, in milliseconds. Some failures show only when writing, and a
 * process that is not ready receives no writes. So it becomes ready again after this time.
 */
const REFUSED_MS = 15_000;
/** SQLSTATEs: no space left, a disk error, a damaged file. */
const DISK_ERRORS = ['53100', '58030', 'XX001', 'XX002'];

/**
 * Tracks whether writes succeed, as far as this is known without writing: from the batches that were sent, and after a
 * time without batches from a probe of the connection that they use.
 */
export class WriterHealth {
  private readonly probe: () => Promise<void>;
  private readonly now: () => number;
  private provenAt = Number.NEGATIVE_INFINITY;
  private refusedAt = Number.NEGATIVE_INFINITY;
  private refusal: unknown;
  private sendingSince: number | undefined;
  /** The reason why the last batch or probe failed, until one succeeds: a newly sent batch alone proves nothing. */
  private doubt: unknown;
  private probing: Promise<void> | undefined;

  /**
   * @param probe tests the connection of writes
   * @param now counts milliseconds
   */
  constructor(probe: () => Promise<void>, now: () => number = () => performance.now()) {
    this.probe = probe;
    this.now = now;
  }

  /** A batch was sent. */
  began(): void {
    this.sendingSince = this.now();
  }

  /** The batch was answered. */
  passed(): void {
    this.sendingSince = undefined;
    this.provenAt = this.now();
    this.refusedAt = Number.NEGATIVE_INFINITY;
    this.doubt = undefined;
  }

  /** The batch failed for a reason outside its content. */
  failed(error: unknown): void {
    this.sendingSince = undefined;
    this.provenAt = Number.NEGATIVE_INFINITY;
    this.doubt = error;
    if (!DISK_ERRORS.includes(sqlState(error) ?? '')) return;
    this.refusedAt = this.now();
    this.refusal = error;
  }

  /** Throws `Unavailable` when writes do not succeed. Simultaneous calls share one probe. */
  async check(): Promise<void> {
    const now = this.now();
    if (now - this.refusedAt < REFUSED_MS) throw unavailable(this.refusal, 'the database refused a write');
    if (this.sendingSince !== undefined) {
      if (now - this.sendingSince < STUCK_MS) {
        if (this.doubt === undefined) return;
        throw unavailable(this.doubt, 'no write has succeeded since the last failure');
      }
      throw new StorageError('Unavailable', `a write has been under way for ${Math.round(now - this.sendingSince)} ms`);
    }
    if (now - this.provenAt < PROVEN_MS) return;
    this.probing ??= this.look().finally(() => {
      this.probing = undefined;
    });
    await this.probing;
  }

  private async look(): Promise<void> {
    try {
      await this.probe();
      this.provenAt = this.now();
      this.doubt = undefined;
    } catch (error) {
      this.doubt = error;
      throw unavailable(error, 'writes fail');
    }
  }
}
