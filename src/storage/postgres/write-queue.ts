import { performance } from 'node:perf_hooks';
import { StorageError } from '../storage.errors.js';
import type { StorageKey, StoredObject } from '../storage.interface.js';
import { keyString } from './keys.js';
import { reasonForClients } from './postgres-errors.js';

/**
 * A single change under its own precondition: `expected` is the version the object must have; null: it must be absent.
 */
export interface Write {
  readonly op: 'create' | 'update' | 'delete';
  readonly key: StorageKey;
  readonly uid: string;
  readonly expected: bigint | null;
  readonly json: string;
  /** Text of the object at the version `expected`, if the writer has it. */
  readonly previousJson: string | undefined;
  /** A create also needs a namespace that exists and is not being deleted. */
  readonly inLiveNamespace?: boolean | undefined;
}

/** The new version, or the committed state that contradicted the precondition. */
export type WriteAnswer =
  | { readonly kind: 'written'; readonly resourceVersion: bigint }
  | { readonly kind: 'refused'; readonly current: StoredObject | undefined };

/** A write and its caller, who waits for the answer. */
export interface QueuedWrite {
  readonly write: Write;
  readonly keyString: string;
  readonly deadline: number;
  readonly resolve: (answer: WriteAnswer) => void;
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
  private readonly lastError: () => unknown;
  private writes: QueuedWrite[] = [];
  private sweeper: NodeJS.Timeout | undefined;

  /**
   * `waitMs`: how long a write may wait, in milliseconds. `lastError` returns the reason why the database takes no
   * writes.
   */
  constructor(waitMs: number, lastError: () => unknown) {
    this.waitMs = waitMs;
    this.lastError = lastError;
  }

  get length(): number {
    return this.writes.length;
  }

  /** Resolves when the write is answered. */
  add(write: Write): Promise<WriteAnswer> {
    return new Promise((resolve, reject) => {
      this.writes.push({
        write,
        keyString: keyString(write.key),
        deadline: performance.now() + this.waitMs,
        resolve,
        reject,
        alone: false,
        stayedBehind: false,
      });
      this.watchDeadlines();
    });
  }

  /**
   * The next batch: bounded in size, with no two writes of one key, and no write ahead of an earlier one of its key.
   */
  take(): QueuedWrite[] {
    const batch: QueuedWrite[] = [];
    const left: QueuedWrite[] = [];
    const keys = new Set<string>();
    let limit = MAX_BATCH_WRITES;
    let characters = 0;
    for (const entry of this.writes) {
      const fits = batch.length === 0 || (!entry.alone && characters + entry.write.json.length <= MAX_BATCH_CHARACTERS);
      if (!fits || batch.length >= limit || keys.has(entry.keyString)) {
        entry.stayedBehind = true;
        left.push(entry);
      } else {
        batch.push(entry);
        characters += entry.write.json.length;
        if (entry.alone) limit = 1;
      }
      // Also for entries left behind: a later write of the key must not overtake them.
      keys.add(entry.keyString);
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
    this.writes = this.writes.filter((entry) => {
      if (!entry.stayedBehind || !outcomes.has(entry.keyString)) return true;
      const current = outcomes.get(entry.keyString);
      if ((current?.resourceVersion ?? null) === entry.write.expected) return true;
      entry.resolve({ kind: 'refused', current });
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
