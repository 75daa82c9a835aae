import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { strikes } from '../faults.js';
import { StorageError } from '../storage.errors.js';
import type { Change, StorageKey, StoredObject } from '../storage.interface.js';
import { Backoff, untilAborted } from '../wait.js';
import { bigintArray, smallintArray, textArray } from './binary-array.js';
import type { EpochKeeper } from './epoch.js';
import { isStorableKey, keyString } from './keys.js';
import type { ResolvedOptions } from './options.js';
import { failureKind, reasonForClients, unavailable } from './postgres-errors.js';
import { type Row, Session } from './session.js';
import { ADD_PARTITIONS, RESOLVE_BATCH, storedObject, text, WRITE_BATCH } from './statements.js';

/** A single change under its own precondition: `expected` is the version the object must have, null for absent. */
export interface Write {
  readonly op: 'create' | 'update' | 'delete';
  readonly key: StorageKey;
  readonly uid: string;
  readonly expected: bigint | null;
  readonly json: string;
  /** Text of the object at the version `expected`, where the writer has it. */
  readonly previousJson: string | undefined;
}

/** A committed batch that wrote something. */
export interface WrittenBatch {
  readonly newest: bigint;
  readonly resources: ReadonlySet<string>;
  /**
   * Everything that was committed behind version `after`, up to `newest`, in order; undefined when that is not known for
   * sure.
   */
  readonly stretch: { readonly after: bigint; readonly changes: readonly Change[] } | undefined;
}

/** The new version, or the committed state that contradicted the precondition. */
export type WriteAnswer =
  | { readonly kind: 'written'; readonly resourceVersion: bigint }
  | { readonly kind: 'refused'; readonly current: StoredObject | undefined };

interface Entry {
  readonly write: Write;
  readonly keyString: string;
  readonly deadline: number;
  readonly resolve: (answer: WriteAnswer) => void;
  readonly reject: (error: StorageError) => void;
  /** Set when a batch with this write failed because of some value in it: goes by itself from then on. */
  alone: boolean;
}

const OP_CODES = { create: 0, update: 1, delete: 2 } as const;
const MAX_BATCH_WRITES = 500;
const MAX_BATCH_CHARACTERS = 8 * 1024 * 1024;

/**
 * The only way to write. One connection; while a batch is under way new writes wait in memory and go together in the
 * next one. The database draws versions under one lock, so version order is commit order over all processes.
 *
 * States of a write: `queued` (fails with `Unavailable` after writeWaitMs; certainly not written), `in flight`
 * (answered by the batch), and after a broken connection `unknown`: the batch is fenced and looked up in the log;
 * what is found was written, the rest is queued again. Only when that fails for resolveDeadlineMs the caller hears
 * `UnknownOutcome`.
 *
 * Two writes of one key never share a batch. The one that stays behind is checked against the outcome of the first
 * here, without asking the database: it was committed and nothing is older.
 */
export class Sequencer {
  readonly #options: ResolvedOptions;
  readonly #epochs: EpochKeeper;
  readonly #onEnd: (written: WrittenBatch | undefined) => void;
  readonly #stop = new AbortController();
  readonly #backoff: Backoff;
  #queue: Entry[] = [];
  #session: Session | undefined;
  #known = 0n;
  #isSending = false;
  #lastError: unknown;
  #wake: (() => void) | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #loop: Promise<void> | undefined;

  /** `onEnd` hears of the end of every batch that was sent, and what it wrote, if anything. */
  constructor(options: ResolvedOptions, epochs: EpochKeeper, onEnd: (written: WrittenBatch | undefined) => void) {
    this.#options = options;
    this.#epochs = epochs;
    this.#onEnd = onEnd;
    this.#backoff = new Backoff(20, 1_000);
  }

  start(head: bigint): void {
    this.#known = head;
    this.#loop = this.#run();
  }

  /** Lets the batch under way end, fails what is queued with `Closed`, closes the connection. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#loop;
    clearInterval(this.#sweeper);
    for (const entry of this.#queue.splice(0)) entry.reject(new StorageError('Closed', 'storage is shutting down'));
    await this.#session?.close();
  }

  /** Whether a batch is under way, whose end `onEnd` will tell. */
  get isSending(): boolean {
    return this.#isSending;
  }

  /** Tells that `version` is committed; narrows the search for a lost batch. */
  observe(version: bigint): void {
    if (version > this.#known) this.#known = version;
    this.#epochs.observe(version);
  }

  /** Throws `Invalid`, `Unavailable`, `UnknownOutcome` or `Closed`. */
  write(write: Write): Promise<WriteAnswer> {
    if (this.#stop.signal.aborted) return Promise.reject(new StorageError('Closed', 'storage is shutting down'));
    if (!isStorableKey(write.key)) {
      return Promise.reject(new StorageError('Invalid', 'no object can live under the key', { key: write.key }));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({
        write,
        keyString: keyString(write.key),
        deadline: performance.now() + this.#options.writeWaitMs,
        resolve,
        reject,
        alone: false,
      });
      this.#sweeper ??= setInterval(() => this.#sweep(), Math.min(250, this.#options.writeWaitMs)).unref();
      this.#wake?.();
    });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      if (this.#queue.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
        continue;
      }
      // Writes that become ready in the same turn of the event loop belong in this batch.
      await new Promise((resolve) => setImmediate(resolve));
      const session = await this.#connected(undefined);
      if (session === undefined) continue;
      const batch = this.#take();
      if (batch.length === 0) continue;
      this.#isSending = true;
      const written = await this.#send(session, batch);
      this.#isSending = false;
      this.#onEnd(written);
    }
  }

  /** A usable connection, or undefined after one failed attempt and the pause that follows it. */
  async #connected(limitMs: number | undefined): Promise<Session | undefined> {
    if (this.#session !== undefined && !this.#session.broken) return this.#session;
    this.#session = undefined;
    let opened: Session | undefined;
    try {
      opened = await Session.open({
        url: this.#options.databaseUrl,
        applicationName: `${this.#options.applicationName} writer`,
        connectTimeoutMs: Math.max(1, Math.min(this.#options.connectTimeoutMs, limitMs ?? Number.POSITIVE_INFINITY)),
        role: 'writer',
        observer: this.#options.observer,
      });
      // Nothing may be written, nor asked about, before it is certain in which history.
      await this.#epochs.enter(opened);
      this.#session = opened;
      this.#backoff.reset();
      return opened;
    } catch (error) {
      opened?.destroy();
      this.#lastError = error;
      await untilAborted(this.#backoff.next(), this.#stop.signal);
      return undefined;
    }
  }

  #take(): Entry[] {
    const batch: Entry[] = [];
    const left: Entry[] = [];
    const keys = new Set<string>();
    let limit = MAX_BATCH_WRITES;
    let characters = 0;
    for (const entry of this.#queue) {
      const fits = batch.length === 0 || (!entry.alone && characters + entry.write.json.length <= MAX_BATCH_CHARACTERS);
      if (!fits || batch.length >= limit || keys.has(entry.keyString)) {
        left.push(entry);
      } else {
        batch.push(entry);
        characters += entry.write.json.length;
        if (entry.alone) limit = 1;
      }
      // Also for entries left behind: a later write of the key must not overtake them.
      keys.add(entry.keyString);
    }
    this.#queue = left;
    return batch;
  }

  async #send(session: Session, batch: Entry[]): Promise<WrittenBatch | undefined> {
    const began = performance.now();
    const id = newBatchId();
    // Taken now: while the batch is under way #known may pass its versions by way of the log.
    const before = this.#known;
    const values = [
      this.#epochs.current?.epoch.toString() ?? null,
      id,
      smallintArray(batch.map((entry) => OP_CODES[entry.write.op])),
      textArray(batch.map((entry) => entry.write.key.resource)),
      textArray(batch.map((entry) => entry.write.key.namespace)),
      textArray(batch.map((entry) => entry.write.key.name)),
      textArray(batch.map((entry) => entry.write.uid)),
      bigintArray(batch.map((entry) => entry.write.expected)),
      textArray(batch.map((entry) => entry.write.json)),
    ];
    let rows: Row[];
    try {
      rows = await session.run(WRITE_BATCH, values, this.#options.resolveDeadlineMs);
    } catch (error) {
      return this.#failed(session, batch, id, before, error);
    }
    const { refused, written } = this.#answer(batch, rows);
    this.#options.observer.batch(batch.length, refused, performance.now() - began);
    return written;
  }

  #answer(
    batch: readonly Entry[],
    rows: readonly Row[],
  ): { readonly refused: number; readonly written: WrittenBatch | undefined } {
    this.#backoff.reset();
    let newest = 0n;
    let refused = 0;
    let after: bigint | undefined;
    const changes: Change[] = [];
    const outcomes = new Map<string, StoredObject | undefined>();
    for (const row of rows) {
      const version = row[1];
      if (row[0] === '0') after = BigInt(text(row, 1));
      const entry = batch[Number(row[0]) - 1];
      if (entry === undefined) continue;
      const { write } = entry;
      if (version === null || version === undefined) {
        refused += 1;
        const current = row[3] === null ? undefined : storedObject(write.key, row, 2);
        outcomes.set(entry.keyString, current);
        entry.resolve({ kind: 'refused', current });
        continue;
      }
      const resourceVersion = BigInt(version);
      if (resourceVersion > newest) newest = resourceVersion;
      changes.push(changeOf(write, resourceVersion));
      outcomes.set(
        entry.keyString,
        write.op === 'delete' ? undefined : { key: write.key, uid: write.uid, resourceVersion, json: write.json },
      );
      entry.resolve({ kind: 'written', resourceVersion });
    }
    if (this.#queue.length > 0) this.#refuseOutdated(outcomes);
    if (newest === 0n) return { refused, written: undefined };
    this.observe(newest);
    const resources = new Set(changes.map((change) => change.key.resource));
    const isWhole = after !== undefined && changes.every(isComplete);
    if (isWhole && changes.length > 1) changes.sort(byVersion);
    return {
      refused,
      written: { newest, resources, stretch: isWhole ? { after: after as bigint, changes } : undefined },
    };
  }

  #refuseOutdated(outcomes: ReadonlyMap<string, StoredObject | undefined>): void {
    this.#queue = this.#queue.filter((entry) => {
      if (!outcomes.has(entry.keyString)) return true;
      const current = outcomes.get(entry.keyString);
      if ((current?.resourceVersion ?? null) === entry.write.expected) return true;
      entry.resolve({ kind: 'refused', current });
      return false;
    });
  }

  async #failed(
    session: Session,
    batch: Entry[],
    id: string,
    before: bigint,
    error: unknown,
  ): Promise<WrittenBatch | undefined> {
    this.#lastError = error;
    const kind = failureKind(error);
    switch (kind) {
      case 'lost':
        session.destroy();
        return this.#resolve(batch, id, before);
      case 'reconnect':
        session.destroy();
        this.#requeue(batch);
        await untilAborted(this.#backoff.next(), this.#stop.signal);
        return undefined;
      case 'retry':
        this.#requeue(batch);
        await untilAborted(this.#backoff.next(), this.#stop.signal);
        return undefined;
      case 'epoch':
        this.#requeue(batch);
        await this.#enterAgain(session);
        return undefined;
      case 'partition':
        this.#requeue(batch);
        await this.#addPartitions(session);
        return undefined;
      case 'data':
        if (batch.length === 1) {
          const reason = error instanceof Error ? error.message : String(error);
          for (const entry of batch) {
            entry.reject(
              new StorageError('Invalid', `can't be stored: ${reason}`, { key: entry.write.key, cause: error }),
            );
          }
        } else {
          // One bad value spoils the whole call: send the writes one by one, so that only its own write fails.
          for (const entry of batch) entry.alone = true;
          this.#requeue(batch);
        }
        return undefined;
      case 'fatal':
        for (const entry of batch) entry.reject(unavailable(error, 'the database refused the write'));
        return undefined;
    }
  }

  /** A proxy or a pooler moved the connection to another server, or the database was restored under it. */
  async #enterAgain(session: Session): Promise<void> {
    try {
      await this.#epochs.enter(session);
    } catch (error) {
      this.#lastError = error;
      session.destroy();
      await untilAborted(this.#backoff.next(), this.#stop.signal);
    }
  }

  async #addPartitions(session: Session): Promise<void> {
    try {
      await session.run(ADD_PARTITIONS, [3], this.#options.resolveDeadlineMs);
    } catch (error) {
      this.#lastError = error;
      this.#options.observer.backgroundError('add partitions', error);
      await untilAborted(this.#backoff.next(), this.#stop.signal);
    }
  }

  /** Finds out what became of a batch whose answer never came. */
  async #resolve(batch: Entry[], id: string, before: bigint): Promise<WrittenBatch | undefined> {
    const deadline = performance.now() + this.#options.resolveDeadlineMs;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      const session = await this.#connected(left);
      if (session === undefined) {
        if (this.#stop.signal.aborted) break;
        continue;
      }
      try {
        return this.#settle(batch, await session.run(RESOLVE_BATCH, [id, before.toString()], Math.max(1, left)));
      } catch (error) {
        this.#lastError = error;
        if (failureKind(error) !== 'retry') session.destroy();
        await untilAborted(this.#backoff.next(), this.#stop.signal);
        if (this.#stop.signal.aborted) break;
      }
    }
    this.#options.observer.resolved('unknown');
    for (const entry of batch) {
      entry.reject(
        new StorageError('UnknownOutcome', 'the database connection broke during the write; it may have been made', {
          key: entry.write.key,
          cause: this.#lastError,
        }),
      );
    }
    return undefined;
  }

  #settle(batch: Entry[], rows: readonly Row[]): WrittenBatch | undefined {
    const written = new Map<string, bigint>();
    for (const row of rows) {
      const key = { resource: text(row, 1), namespace: text(row, 2), name: text(row, 3) };
      written.set(keyString(key), BigInt(text(row, 0)));
    }
    this.#options.observer.resolved(written.size > 0 ? 'written' : 'not-written');
    let newest = 0n;
    const again: Entry[] = [];
    for (const entry of batch) {
      const resourceVersion = written.get(entry.keyString);
      if (resourceVersion === undefined) {
        again.push(entry);
        continue;
      }
      if (resourceVersion > newest) newest = resourceVersion;
      entry.resolve({ kind: 'written', resourceVersion });
    }
    this.#requeue(again);
    if (newest === 0n) return undefined;
    this.observe(newest);
    return { newest, resources: new Set(batch.map((entry) => entry.write.key.resource)), stretch: undefined };
  }

  #requeue(entries: readonly Entry[]): void {
    this.#queue = [...entries, ...this.#queue];
  }

  #sweep(): void {
    const now = performance.now();
    if (this.#queue.length === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
      return;
    }
    this.#queue = this.#queue.filter((entry) => {
      if (entry.deadline > now) return true;
      entry.reject(
        new StorageError('Unavailable', 'the database did not take the write in time', {
          key: entry.write.key,
          cause: this.#lastError,
          reason: reasonForClients(this.#lastError),
        }),
      );
      return false;
    });
  }
}

function changeOf({ op, key, uid, json, previousJson }: Write, resourceVersion: bigint): Change {
  const previous = op === 'update' && strikes('own-batch-previous', 3) ? json : previousJson;
  return { type: op, key, uid, resourceVersion, json, previousJson: previous };
}

function isComplete({ type, previousJson }: Change): boolean {
  return type === 'create' || previousJson !== undefined;
}

function byVersion(a: Change, b: Change): number {
  return a.resourceVersion < b.resourceVersion ? -1 : 1;
}

function newBatchId(): string {
  return (randomBytes(8).readBigInt64BE() & 0x7fff_ffff_ffff_ffffn).toString();
}
