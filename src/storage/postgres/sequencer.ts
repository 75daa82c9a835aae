import { performance } from 'node:perf_hooks';
import { Backoff } from '../../base/machinery/backoff.js';
import { freeBuffer } from '../../base/machinery/free-buffer.js';
import type { InvariantError } from '../../base/machinery/invariant-error.js';
import { systemTimers } from '../../base/machinery/timers.js';
import { runForRequests } from '../../base/observability/trace-scope.js';
import { mostTiedWrites, type TiedWriteAnswer, type Write, type WriteAnswer } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { batchColumns } from './batch-columns.js';
import { newBatchId } from './batch-id.js';
import type { Writer } from './database.js';
import type { EpochKeeper } from './epoch-keeper.js';
import { isStorableKey, keyString } from './keys.js';
import { failureKind, unavailable } from './postgres-errors.js';
import type { ResolvedOptions } from './postgres-storage-options.js';
import { type Row, Session } from './session.js';
import { ADD_PARTITIONS, CHECK_WRITES, RESOLVE_BATCH, text, WRITE_BATCH } from './statements.js';
import { type QueuedWrite, WriteQueue } from './write-queue.js';
import { WriterHealth } from './writer-health.js';
import type { WriterLockWatchdog } from './writer-lock-watchdog.js';
import { answerBatch, type BatchOutcome, sealedCurrents, type WrittenBatch } from './written-batch.js';

/** How long no notifications are sent after the server's queue of notifications was full, in milliseconds. */
const QUIET_MS = 10_000;

/**
 * The only way to write. It uses one connection. While a batch is in progress, new writes wait in memory and share the
 * next one. The database assigns versions under one lock, so version order is commit order over all processes.
 *
 * States of a write: `queued` (fails with `Unavailable` or `Overloaded` after writeWaitMs; certainly not written), `in flight`
 * (completed by the batch's response), and after a broken connection `unknown`. Then the batch is fenced and looked up
 * in the log. Writes that are found were made; the rest is queued again. Only when that fails for resolveDeadlineMs
 * does the caller get `UnknownOutcome`.
 *
 * Two writes of one key never share a batch. The second one is checked here against the outcome of the first, without
 * asking the database: that outcome was committed after both were requested.
 */
export class Sequencer implements Writer {
  private readonly options: ResolvedOptions;
  private readonly epochs: EpochKeeper;
  private readonly onEnd: (written: WrittenBatch | undefined) => void;
  private readonly mayHaveOthers: () => boolean;
  private readonly watchdog: WriterLockWatchdog;
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private readonly queue: WriteQueue;
  private readonly health = new WriterHealth(() => this.probe());
  private session: Session | undefined;
  private known = 0n;
  private sending = false;
  /** Until then, batches send no notifications, because the database refused one; by `performance.now()`. */
  private notifiesAgainAt = 0;
  private lastError: unknown;
  /** When the database made the last batch; -Infinity after a failure. */
  private lastBatchAt = Number.NEGATIVE_INFINITY;
  private wake: (() => void) | undefined;
  private loop: Promise<void> | undefined;

  /**
   * @param onEnd is called at the end of every batch that was sent, with what it wrote, if anything
   * @param mayHaveOthers whether other processes may want to be notified
   */
  constructor(
    options: ResolvedOptions,
    epochs: EpochKeeper,
    watchdog: WriterLockWatchdog,
    onEnd: (written: WrittenBatch | undefined) => void,
    mayHaveOthers: () => boolean,
  ) {
    this.mayHaveOthers = mayHaveOthers;
    this.watchdog = watchdog;
    this.options = options;
    this.epochs = epochs;
    this.onEnd = onEnd;
    this.backoff = new Backoff({ firstMs: 20, longestMs: 1_000 }, Math.random);
    this.queue = new WriteQueue(
      options.writeWaitMs,
      () => this.lastError,
      options.sealing,
      () => this.lastBatchAt,
    );
  }

  start(head: bigint): void {
    this.known = head;
    this.loop = this.run();
  }

  /** Waits for the batch in progress, fails queued writes with `Closed`, closes the connection. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake?.();
    await this.loop;
    this.queue.close(new StorageError('Closed', 'storage is shutting down'));
    await this.session?.close();
  }

  /** Whether a batch is in progress. Its end is reported to `onEnd`. */
  get isSending(): boolean {
    return this.sending;
  }

  /** Throws `Unavailable` while writes do not succeed. Writes nothing. */
  check(): Promise<void> {
    return this.health.check();
  }

  /** Reports that `version` is committed; narrows the search for a lost batch. */
  observe(version: bigint): void {
    if (version > this.known) this.known = version;
    this.epochs.observe(version);
  }

  /** Throws `Invalid`, `Unavailable`, `UnknownOutcome` or `Closed`. */
  write(write: Write): Promise<WriteAnswer> {
    if (this.stopping.signal.aborted) return Promise.reject(new StorageError('Closed', 'storage is shutting down'));
    if (!isStorableKey(write.key)) {
      return Promise.reject(new StorageError('Invalid', 'no object can live under the key', { key: write.key }));
    }
    const answer = this.queue.add(write);
    this.wake?.();
    return answer;
  }

  /**
   * Like {@link write}, for writes that are all made or none. They share a batch, so after a broken connection either
   * all or none of them exist.
   */
  writeTogether(writes: readonly Write[]): Promise<readonly TiedWriteAnswer[]> {
    if (this.stopping.signal.aborted) return Promise.reject(new StorageError('Closed', 'storage is shutting down'));
    const bad = writes.find(({ key }) => !isStorableKey(key));
    if (bad !== undefined) {
      return Promise.reject(new StorageError('Invalid', 'no object can live under the key', { key: bad.key }));
    }
    const keys = new Set(writes.map(({ key }) => keyString(key)));
    if (writes.length > mostTiedWrites || keys.size < writes.length) {
      return Promise.reject(new StorageError('Invalid', 'these writes cannot be made together'));
    }
    const answers = this.queue.addTied(writes);
    this.wake?.();
    return answers;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      if (this.queue.length === 0) {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.wake = undefined;
        continue;
      }
      // Waits for writes that become ready in the same turn of the event loop: they belong in this batch.
      await new Promise((resolve) => setImmediate(resolve));
      const session = await this.connected(undefined);
      if (session === undefined) continue;
      const batch = this.queue.take();
      if (batch.length === 0) continue;
      this.sending = true;
      const written = await this.send(session, batch);
      this.sending = false;
      this.onEnd(written);
    }
  }

  /** Uses the writer's own connection, or opens one in the same way. */
  private async probe(): Promise<void> {
    const limit = this.options.resolveDeadlineMs;
    if (this.session !== undefined && !this.session.broken) {
      await this.session.run(CHECK_WRITES, [], limit);
      return;
    }
    const session = await this.open(this.options.connectTimeoutMs);
    try {
      await session.run(CHECK_WRITES, [], limit);
    } finally {
      await session.close();
    }
  }

  private open(connectTimeoutMs: number): Promise<Session> {
    return Session.open({
      url: this.options.databaseUrl,
      applicationName: `${this.options.applicationName} writer`,
      connectTimeoutMs,
      role: 'writer',
      observer: this.options.observer,
      signal: this.options.signal,
    });
  }

  /** A usable connection, or undefined after one failed attempt and the pause that follows it. */
  private async connected(limitMs: number | undefined): Promise<Session | undefined> {
    if (this.session !== undefined && !this.session.broken) return this.session;
    this.session = undefined;
    let opened: Session | undefined;
    try {
      opened = await this.open(
        Math.max(1, Math.min(this.options.connectTimeoutMs, limitMs ?? Number.POSITIVE_INFINITY)),
      );
      // Nothing may be written or looked up before it is certain which history the database is in.
      await this.watchdog.watch(this.epochs.enter(opened, limitMs));
      this.session = opened;
      this.backoff.reset();
      return opened;
    } catch (error) {
      opened?.destroy();
      this.lastError = error;
      this.lastBatchAt = Number.NEGATIVE_INFINITY;
      await systemTimers.wait(this.backoff.next(), this.stopping.signal);
      return undefined;
    }
  }

  private async send(session: Session, batch: QueuedWrite[]): Promise<WrittenBatch | undefined> {
    const began = performance.now();
    const id = newBatchId();
    // Read before sending: during the batch the log may raise `known` beyond the versions of the batch.
    const before = this.known;
    let columns: ReturnType<typeof batchColumns>;
    try {
      columns = batchColumns(batch);
    } catch (error) {
      // Nothing was sent. Other batches are not affected.
      this.options.observer.backgroundError('write queue', error);
      for (const entry of batch) entry.reject(error as InvariantError);
      return undefined;
    }
    const values = [
      this.epochs.current?.epoch.toString() ?? null,
      id,
      ...columns,
      String(performance.now() >= this.notifiesAgainAt && this.mayHaveOthers()),
    ];
    const waits = batch.map((entry) => this.queue.waited(entry, began));
    const ended = this.options.observer.began(waits, this.queue.length);
    let rows: Row[];
    this.health.began();
    try {
      const sent = () => session.run(WRITE_BATCH, values, this.options.resolveDeadlineMs);
      rows = await this.watchdog.watch(runForRequests(() => batch.map(({ requestId }) => requestId), sent));
    } catch (error) {
      ended();
      return this.failed(session, batch, id, before, error);
    }
    for (const column of columns) freeBuffer(column);
    this.health.passed();
    this.lastBatchAt = performance.now();
    this.backoff.reset();
    const sealed = sealedCurrents(batch, rows);
    if (sealed.length > 0) await this.options.sealing.prepare(sealed);
    const outcome = this.answer(session, batch, rows);
    ended();
    if (outcome === undefined) return undefined;
    this.options.observer.batch(batch.length, outcome.refused, performance.now() - began);
    return outcome.written;
  }

  /** Completes the writes of the batch; undefined when the response contradicts the history. */
  private answer(session: Session, batch: readonly QueuedWrite[], rows: readonly Row[]): BatchOutcome | undefined {
    let outcome: BatchOutcome;
    try {
      outcome = answerBatch(batch, rows, this.options.sealing);
    } catch (error) {
      // The versions seen in this history can't be trusted any more: the next batch begins with a check of the history.
      this.options.observer.backgroundError('answer to a batch', error);
      session.destroy();
      this.rejectUnknown(batch, 'the answer to the write contradicts the history; it may have been made', error);
      return undefined;
    }
    this.queue.refuseOutdated(outcome.states);
    if (outcome.written !== undefined) this.observe(outcome.written.newest);
    return outcome;
  }

  private rejectUnknown(batch: readonly QueuedWrite[], message: string, cause: unknown): void {
    for (const { write, reject } of batch)
      reject(new StorageError('UnknownOutcome', message, { key: write.key, cause }));
  }

  private async failed(
    session: Session,
    batch: QueuedWrite[],
    id: string,
    before: bigint,
    error: unknown,
  ): Promise<WrittenBatch | undefined> {
    this.lastError = error;
    this.lastBatchAt = Number.NEGATIVE_INFINITY;
    const kind = failureKind(error);
    if (kind === 'data') this.health.passed();
    else this.health.failed(error);
    switch (kind) {
      case 'lost':
        session.destroy();
        return this.resolve(batch, id, before);
      case 'reconnect':
        session.destroy();
        this.queue.putBack(batch);
        await systemTimers.wait(this.backoff.next(), this.stopping.signal);
        return undefined;
      case 'retry':
        this.queue.putBack(batch);
        await systemTimers.wait(this.backoff.next(), this.stopping.signal);
        return undefined;
      case 'epoch':
        this.queue.putBack(batch);
        await this.enterAgain(session);
        return undefined;
      case 'hints':
        // Other processes find the writes at their next poll.
        if (performance.now() >= this.notifiesAgainAt) this.options.observer.backgroundError('notifications', error);
        this.notifiesAgainAt = performance.now() + QUIET_MS;
        this.queue.putBack(batch);
        return undefined;
      case 'partition':
        this.queue.putBack(batch);
        await this.addPartitions(session);
        return undefined;
      case 'data':
        if (batch.length === 1 || batch[0]?.tied?.length === batch.length) {
          const reason = error instanceof Error ? error.message : String(error);
          for (const entry of batch) {
            entry.reject(
              new StorageError('Invalid', `can't be stored: ${reason}`, { key: entry.write.key, cause: error }),
            );
          }
        } else {
          // One bad value fails the whole call. The writes are then sent one by one, tied ones together, so that only
          // the write with that value and those tied to it fail.
          for (const entry of batch) entry.alone = true;
          this.queue.putBack(batch);
        }
        return undefined;
      case 'forgotten':
      case 'fatal':
        for (const entry of batch) entry.reject(unavailable(error, 'the database refused the write'));
        return undefined;
    }
  }

  /**
   * Checks the history again: a proxy or a pooler moved the connection to another server, or the database was restored
   * under it.
   */
  private async enterAgain(session: Session): Promise<void> {
    try {
      await this.watchdog.watch(this.epochs.enter(session));
    } catch (error) {
      this.lastError = error;
      session.destroy();
      await systemTimers.wait(this.backoff.next(), this.stopping.signal);
    }
  }

  private async addPartitions(session: Session): Promise<void> {
    try {
      await session.run(ADD_PARTITIONS, [3], this.options.resolveDeadlineMs);
    } catch (error) {
      this.lastError = error;
      this.options.observer.backgroundError('add partitions', error);
      await systemTimers.wait(this.backoff.next(), this.stopping.signal);
    }
  }

  /** Finds out the outcome of a batch whose response never arrived. */
  private async resolve(batch: QueuedWrite[], id: string, before: bigint): Promise<WrittenBatch | undefined> {
    const deadline = performance.now() + this.options.resolveDeadlineMs;
    for (;;) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      const session = await this.connected(left);
      if (session === undefined) {
        if (this.stopping.signal.aborted || this.options.signal.aborted) break;
        continue;
      }
      try {
        const found = session.run(RESOLVE_BATCH, [id, before.toString()], Math.max(1, left));
        return this.settle(batch, await this.watchdog.watch(found));
      } catch (error) {
        this.lastError = error;
        const kind = failureKind(error);
        if (kind === 'forgotten') break;
        if (kind !== 'retry') session.destroy();
        await systemTimers.wait(this.backoff.next(), this.stopping.signal);
        if (this.stopping.signal.aborted) break;
      }
    }
    this.options.observer.resolved('unknown');
    this.rejectUnknown(batch, 'the database connection broke during the write; it may have been made', this.lastError);
    return undefined;
  }

  private settle(batch: QueuedWrite[], rows: readonly Row[]): WrittenBatch | undefined {
    const written = new Map<string, bigint>();
    for (const row of rows) {
      const key = { resource: text(row, 1), namespace: text(row, 2), name: text(row, 3) };
      written.set(keyString(key), BigInt(text(row, 0)));
    }
    this.options.observer.resolved(written.size > 0 ? 'written' : 'not-written');
    let newest = 0n;
    const again: QueuedWrite[] = [];
    for (const entry of batch) {
      const resourceVersion = written.get(entry.keyString);
      if (resourceVersion === undefined) {
        again.push(entry);
        continue;
      }
      if (resourceVersion > newest) newest = resourceVersion;
      entry.resolve({ kind: 'written', resourceVersion });
    }
    this.queue.putBack(again);
    if (newest === 0n) return undefined;
    this.observe(newest);
    return { newest, resources: new Set(batch.map((entry) => entry.write.key.resource)), stretch: undefined };
  }
}
