import { StorageError } from '../storage.errors.js';
import { sqlState, unavailable } from './postgres-errors.js';

/** A write that was made proves the way for so long. */
const PROVEN_MS = 5_000;
/** A batch that takes longer has met a lock or a disk that does not answer. */
const STUCK_MS = 3_000;
/** What only a write shows: nobody is asked to send one to a process that is not ready, so it is tried again after this. */
const REFUSED_MS = 15_000;
/** SQLSTATE: no space left, an error of the disk, a damaged file. */
const DISK_ERRORS = ['53100', '58030', 'XX001', 'XX002'];

/**
 * Whether writes get through, as far as it can be told without writing: by the batches that were sent, and when none was
 * lately, by a look at the way they take.
 */
export class WriterHealth {
  private readonly probe: () => Promise<void>;
  private readonly now: () => number;
  private provenAt = Number.NEGATIVE_INFINITY;
  private refusedAt = Number.NEGATIVE_INFINITY;
  private refusal: unknown;
  private sendingSince: number | undefined;
  private probing: Promise<void> | undefined;

  /** `probe` tries the way of a write; `now` counts milliseconds. */
  constructor(probe: () => Promise<void>, now: () => number = () => performance.now()) {
    this.probe = probe;
    this.now = now;
  }

  /** A batch is sent. */
  began(): void {
    this.sendingSince = this.now();
  }

  /** The batch was answered. */
  passed(): void {
    this.sendingSince = undefined;
    this.provenAt = this.now();
    this.refusedAt = Number.NEGATIVE_INFINITY;
  }

  /** The batch failed, for a reason that is not in what it wrote. */
  failed(error: unknown): void {
    this.sendingSince = undefined;
    this.provenAt = Number.NEGATIVE_INFINITY;
    if (!DISK_ERRORS.includes(sqlState(error) ?? '')) return;
    this.refusedAt = this.now();
    this.refusal = error;
  }

  /** Throws `Unavailable` when writes do not get through. Calls at the same time share one look. */
  async check(): Promise<void> {
    const now = this.now();
    if (now - this.refusedAt < REFUSED_MS) throw unavailable(this.refusal, 'the database refused a write');
    if (this.sendingSince !== undefined) {
      if (now - this.sendingSince < STUCK_MS) return;
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
    } catch (error) {
      throw unavailable(error, 'no write gets through');
    }
  }
}
