import { performance } from 'node:perf_hooks';
import type { InvariantError } from '../../base/machinery/invariant-error.js';
import { currentRequestId } from '../../base/observability/trace-scope.js';
import { plainSealing, type Sealing } from '../encryption/sealing.js';
import type { StoredObject, TiedWriteAnswer, Write, WriteAnswer } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { keyString } from './keys.js';
import { reasonForClients } from './postgres-errors.js';

/** A write, and the callbacks of the caller that waits for it. */
export interface QueuedWrite {
  readonly write: Write;
  readonly keyString: string;
  /** The text of the write as the database will store it. */
  readonly stored: string;
  readonly deadline: number;
  /** Of the request that waits for the write, if that is noted. */
  readonly requestId: string | undefined;
  /** The writes that are made together with this one, including itself; undefined for a write on its own. */
  readonly tied: readonly QueuedWrite[] | undefined;
  readonly resolve: (answer: TiedWriteAnswer) => void;
  readonly reject: (error: StorageError | InvariantError) => void;
  /** Set when a batch with this write failed because of some value in it. From then on the write is sent by itself. */
  alone: boolean;
  /** Whether a batch was sent without this write while it was already waiting. */
  stayedBehind: boolean;
}

const MAX_BATCH_WRITES = 500;
/**
 * The size limit of a batch, in characters. A batch takes as long as its texts need, 20 to 40 ms for each million
 * characters, and holds the lock that the writes of all processes wait for. So two very long writes never share a
 * batch: the short ones of others then wait for one of them at most.
 */
const MAX_BATCH_CHARACTERS = 512 * 1024;
/**
 * Longer writes go in batches of their own, in turns with batches of shorter ones, which then need not wait for them.
 */
const LONG_CHARACTERS = 64 * 1024;
/** Above this many namespaces, those without a waiting write are forgotten. */
const MOST_TURNS = 1_000;

/** Writes that are made together, or one on its own, and the length of their texts. */
interface Group {
  readonly entries: readonly QueuedWrite[];
  readonly characters: number;
}

/**
 * Writes that have not been sent yet. Writes of one key keep their order; otherwise namespaces take turns, so that a
 * namespace with very many writes holds up only itself. A write that waits too long fails with `Overloaded` if the
 * database made others meanwhile, else with `Unavailable`: it was certainly not made.
 */
export class WriteQueue {
  private readonly waitMs: number;
  private readonly sealing: Sealing;
  private readonly lastError: () => unknown;
  private readonly lastBatchAt: () => number;
  /** The waiting writes in the order of their arrival. */
  private writes: QueuedWrite[] = [];
  /** The number of the batch in which a namespace that has writes waiting had its last turn. */
  private turns = new Map<string, number>();
  private batches = 0;
  private wasLong = false;
  private sweeper: NodeJS.Timeout | undefined;

  /**
   * @param waitMs how long a write may wait, in milliseconds
   * @param lastError returns the reason why the database accepts no writes
   * @param sealing how texts are stored in the database
   * @param lastBatchAt returns when the database last made a batch, by `performance.now()`; -Infinity after a failure
   */
  constructor(
    waitMs: number,
    lastError: () => unknown,
    sealing: Sealing = plainSealing,
    lastBatchAt: () => number = () => Number.NEGATIVE_INFINITY,
  ) {
    this.waitMs = waitMs;
    this.sealing = sealing;
    this.lastError = lastError;
    this.lastBatchAt = lastBatchAt;
  }

  get length(): number {
    return this.writes.length;
  }

  /** How long a write has waited, in milliseconds. */
  waited({ deadline }: QueuedWrite, now: number): number {
    return now - (deadline - this.waitMs);
  }

  /** Resolves when the outcome of the write is known. */
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

  /** Like {@link add}, for writes that are made together or not at all. */
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
        requestId: currentRequestId(),
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
    // The batches of one client: there is nothing to choose.
    if (this.writes.length === 1) return this.takeOnly();
    const groups = this.inTurns(this.groups());
    const chosen = this.ofOneLength(groups);
    const batch: QueuedWrite[] = [];
    let characters = 0;
    for (const { entries, characters: own } of chosen) {
      const isFirst = batch.length === 0;
      const hasRoom = batch.length + entries.length <= MAX_BATCH_WRITES && characters + own <= MAX_BATCH_CHARACTERS;
      if (!isFirst && (entries[0]?.alone === true || !hasRoom)) continue;
      batch.push(...entries);
      characters += own;
      if (entries[0]?.alone === true) break;
    }
    this.leave(batch);
    return batch;
  }

  private takeOnly(): QueuedWrite[] {
    const batch = this.writes;
    this.wasLong = (batch[0] as QueuedWrite).stored.length > LONG_CHARACTERS;
    this.writes = [];
    this.batches += 1;
    this.turns.clear();
    return batch;
  }

  /**
   * The writes that may be sent now, in the order in which they came: writes without an earlier write of one of their
   * keys before them.
   */
  private groups(): Group[] {
    const keys = new Set<string>();
    const groups: Group[] = [];
    for (const first of this.writes) {
      const { tied } = first;
      if (tied !== undefined && tied[0] !== first) continue;
      const entries = tied ?? [first];
      if (!entries.some(({ keyString }) => keys.has(keyString))) {
        groups.push({ entries, characters: entries.reduce((sum, { stored }) => sum + stored.length, 0) });
      }
      for (const { keyString } of entries) keys.add(keyString);
    }
    return groups;
  }

  /**
   * One write of each namespace, then the next one of each, beginning with the namespace whose last turn is longest
   * ago.
   */
  private inTurns(groups: readonly Group[]): Group[] {
    const lines = new Map<string, Group[]>();
    for (const group of groups) {
      const party = partyOf(group);
      const line = lines.get(party);
      if (line === undefined) lines.set(party, [group]);
      else line.push(group);
    }
    if (lines.size === 1) return [...groups];
    const lastTurn = (party: string) => this.turns.get(party) ?? 0;
    const order = [...lines].sort(([a], [b]) => lastTurn(a) - lastTurn(b)).map(([, line]) => line);
    const ordered: Group[] = [];
    for (let round = 0; ordered.length < groups.length; round++) {
      for (const line of order) {
        const group = line[round];
        if (group !== undefined) ordered.push(group);
      }
    }
    return ordered;
  }

  /** Only the short or only the long writes: if there are both, the two kinds take turns. */
  private ofOneLength(groups: readonly Group[]): readonly Group[] {
    const isLong = ({ characters }: Group) => characters > LONG_CHARACTERS;
    const long = groups.filter(isLong);
    if (long.length === 0 || long.length === groups.length) {
      this.wasLong = long.length > 0;
      return groups;
    }
    this.wasLong = !this.wasLong;
    return this.wasLong ? long : groups.filter((group) => !isLong(group));
  }

  /** Removes the batch from the queue, and marks the writes that stay behind. */
  private leave(batch: readonly QueuedWrite[]): void {
    const taken = new Set(batch);
    this.batches += 1;
    for (const { write } of batch) this.turns.set(write.key.namespace, this.batches);
    this.writes = this.writes.filter((entry) => {
      if (taken.has(entry)) return false;
      entry.stayedBehind = true;
      return true;
    });
    // A namespace without waiting writes is treated like a new one.
    if (this.writes.length === 0) this.turns.clear();
    else if (this.turns.size > MOST_TURNS) this.forgetTurns();
  }

  private forgetTurns(): void {
    const waiting = new Set(this.writes.map(({ write }) => write.key.namespace));
    for (const party of this.turns.keys()) if (!waiting.has(party)) this.turns.delete(party);
  }

  /** Requeues writes that were not made, before all others and with their old deadlines. */
  putBack(entries: readonly QueuedWrite[]): void {
    if (entries.length === 0) return;
    this.writes = [...entries, ...this.writes];
    this.watchDeadlines();
  }

  /**
   * Refuses writes whose precondition contradicts the outcome of a batch, by key. This holds only for writes that
   * waited before the batch was sent: other processes may have written since its commit, and a later caller may know
   * that.
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

  /** Checks the deadlines until the queue is empty. */
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
      entry.reject(this.lateError(entry));
      return false;
    });
  }

  private lateError({ write: { key }, deadline }: QueuedWrite): StorageError {
    if (this.lastBatchAt() > deadline - this.waitMs) {
      return new StorageError('Overloaded', 'the database was busy with other writes for too long', { key });
    }
    const cause = this.lastError();
    const reason = reasonForClients(cause);
    return new StorageError('Unavailable', 'the database did not take the write in time', { key, cause, reason });
  }
}

function partyOf({ entries }: Group): string {
  return (entries[0] as QueuedWrite).write.key.namespace;
}
