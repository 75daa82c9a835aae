import { performance } from 'node:perf_hooks';
import { plainSealing, type Sealing } from '../encryption/sealing.js';
import type { StoredObject, TiedWriteAnswer, Write, WriteAnswer } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { keyString } from './keys.js';
import { reasonForClients } from './postgres-errors.js';

/** A write and its caller, who waits for the answer. */
export interface QueuedWrite {
  readonly write: Write;
  readonly keyString: string;
  /** The text of the write as it will stand in the database. */
  readonly stored: string;
  readonly deadline: number;
  /** The writes that are made together with this one, itself among them; undefined for a write on its own. */
  readonly tied: readonly QueuedWrite[] | undefined;
  readonly resolve: (answer: TiedWriteAnswer) => void;
  readonly reject: (error: StorageError) => void;
  /** Set when a batch with this write failed because of some value in it. From then on the write goes by itself. */
  alone: boolean;
  /** Whether a batch was taken while this write was already waiting. */
  stayedBehind: boolean;
}

const MAX_BATCH_WRITES = 500;
/**
 * A batch takes as long as its longest objects need, and every write in it waits for that. So two very long ones never
 * share a batch.
 */
const MAX_BATCH_CHARACTERS = 2 * 1024 * 1024;

/**
 * Writes that were not sent yet, in their order. A write that waits too long fails with `Unavailable`: it was certainly
 * not made.
 */
export class WriteQueue {
  private readonly waitMs: number;
  private readonly sealing: Sealing;
  private readonly lastError: () => unknown;
  private writes: QueuedWrite[] = [];
  private sweeper: NodeJS.Timeout | undefined;

  /**
   * `waitMs`: how long a write may wait, in milliseconds. `lastError` returns the reason why the database takes no
   * writes. `sealing`: how texts stand in the database.
   */
  constructor(waitMs: number, lastError: () => unknown, sealing: Sealing = plainSealing) {
    this.waitMs = waitMs;
    this.sealing = sealing;
    this.lastError = lastError;
  }

  get length(): number {
    return this.writes.length;
  }

  /** How long a write has waited, in milliseconds. */
  waited({ deadline }: QueuedWrite, now: number): number {
    return now - (deadline - this.waitMs);
  }

  /** Resolves when the write is answered. */
  add(write: Write): Promise<WriteAnswer> {
    let stored: string;
    try {
      stored = this.sealing.seal(write.key, write.json);
    } catch (error) {
      return Promise.reject(error);
    }
    // A write on its own is never withdrawn.
    return this.push(write, stored, performance.now() + this.waitMs, undefined) as Promise<WriteAnswer>;
  }

  /** The same for writes that are made together or not at all. */
  async addTied(writes: readonly Write[]): Promise<TiedWriteAnswer[]> {
    const stored = writes.map(({ key, json }) => this.sealing.seal(key, json));
    const deadline = performance.now() + this.waitMs;
    const tied: QueuedWrite[] = [];
    return Promise.all(writes.map((write, i) => this.push(write, stored[i] as string, deadline, tied)));
  }

  private push(
    write: Write,
    stored: string,
    deadline: number,
    tied: QueuedWrite[] | undefined,
  ): Promise<TiedWriteAnswer> {
    return new Promise((resolve, reject) => {
      const entry: QueuedWrite = {
        write,
        keyString: keyString(write.key),
        stored,
        deadline,
        tied,
        resolve,
        reject,
        alone: false,
        stayedBehind: false,
      };
      tied?.push(entry);
      this.writes.push(entry);
      this.watchDeadlines();
    });
  }

  /**
   * The next batch: bounded in size, with no two writes of one key, and no write ahead of an earlier one of its key.
   * Tied writes are neighbours in it.
   */
  take(): QueuedWrite[] {
    const batch: QueuedWrite[] = [];
    const left: QueuedWrite[] = [];
    const keys = new Set<string>();
    let isFull = false;
    let characters = 0;
    for (const first of this.writes) {
      const { tied } = first;
      if (tied !== undefined && tied[0] !== first) continue;
      const entries = tied ?? [first];
      const length = entries.reduce((sum, { stored }) => sum + stored.length, 0);
      const isFirst = batch.length === 0;
      const fitsInBatch =
        batch.length + entries.length <= MAX_BATCH_WRITES && characters + length <= MAX_BATCH_CHARACTERS;
      const fits = isFirst || (!first.alone && fitsInBatch);
      if (isFull || !fits || entries.some(({ keyString }) => keys.has(keyString))) {
        for (const entry of entries) entry.stayedBehind = true;
        left.push(...entries);
      } else {
        batch.push(...entries);
        characters += length;
        isFull = first.alone;
      }
      // Also for entries left behind: a later write of the key must not overtake them.
      for (const { keyString } of entries) keys.add(keyString);
    }
    this.writes = left;
    return batch;
  }

  /** Queues writes again that were not made, before all others and under their old deadlines. */
  putBack(entries: readonly QueuedWrite[]): void {
    if (entries.length === 0) return;
    this.writes = [...entries, ...this.writes];
    this.watchDeadlines();
  }

  /**
   * Refuses writes whose precondition contradicts the outcome of a batch, by key. Only writes that waited before the
   * batch was sent: others may have written since its commit, and a later caller may know that.
   */
  refuseOutdated(outcomes: ReadonlyMap<string, StoredObject | undefined>): void {
    if (this.writes.length === 0) return;
    const isOutdated = ({ keyString, write }: QueuedWrite): boolean =>
      outcomes.has(keyString) && (outcomes.get(keyString)?.resourceVersion ?? null) !== write.expected;
    this.writes = this.writes.filter((entry) => {
      if (!entry.stayedBehind || !(entry.tied ?? [entry]).some(isOutdated)) return true;
      if (isOutdated(entry)) entry.resolve({ kind: 'refused', current: outcomes.get(entry.keyString) });
      else entry.resolve({ kind: 'withdrawn' });
      return false;
    });
  }

  /** Fails every waiting write. */
  close(error: StorageError): void {
    clearInterval(this.sweeper);
    for (const entry of this.writes.splice(0)) entry.reject(error);
  }

  /** Watches the deadlines until the queue is empty. */
  private watchDeadlines(): void {
    this.sweeper ??= setInterval(() => this.sweep(), Math.min(250, this.waitMs)).unref();
  }

  private sweep(): void {
    const now = performance.now();
    if (this.writes.length === 0) {
      clearInterval(this.sweeper);
      this.sweeper = undefined;
      return;
    }
    this.writes = this.writes.filter((entry) => {
      if (entry.deadline > now) return true;
      const cause = this.lastError();
      entry.reject(
        new StorageError('Unavailable', 'the database did not take the write in time', {
          key: entry.write.key,
          cause,
          reason: reasonForClients(cause),
        }),
      );
      return false;
    });
  }
}
