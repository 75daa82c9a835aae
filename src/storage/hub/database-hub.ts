import type { Socket } from 'node:net';
import type { Sealing } from '../encryption/sealing.js';
import { SUSPICIOUS_LEAP } from '../postgres/epoch-keeper.js';
import { LocalDatabase } from '../postgres/local-database.js';
import type { ResolvedOptions } from '../postgres/postgres-storage-options.js';
import { readLength } from '../postgres/read-length.js';
import type { Row, Statement } from '../postgres/session.js';
import { hasHead, readStatements, text } from '../postgres/statements.js';
import type { WrittenBatch } from '../postgres/written-batch.js';
import type { Write } from '../storage.interface.js';
import { StorageError } from '../storage-error.js';
import { type BatchToSend, HubClient } from './hub-client.js';
import type { HubRequest } from './hub-messages.js';
import { HubReads, type Read } from './hub-reads.js';
import { sendError } from './sent-error.js';
import { receiveWrite } from './sent-write.js';

/** How many versions to remember: a notification arrives at most a few batches late. */
const MOST_TOLD = 8;

/** Texts pass unchanged: the processes encrypt and decrypt them. */
const asStored: Sealing = {
  seal: (_key, json) => json,
  open: (_key, stored) => stored,
  isOutdated: () => false,
  prepare: () => undefined,
};

type Asked = Exclude<HubRequest, readonly ['follow' | 'write', ...unknown[]]>;

/**
 * The shared connection of several processes of one machine to the database. Their writes share batches, they learn of
 * every batch without reading the log, and they share reads. The hub holds no state that outlasts it: when it exits,
 * the processes exit with it, and the database has what was committed.
 */
export class DatabaseHub {
  private readonly database: LocalDatabase;
  private readonly clients = new Set<HubClient>();
  private readonly reads: HubReads;
  private readonly replicaReads: HubReads;
  private starting: Promise<void> | undefined;
  /** Versions of notifications that arrived during a batch. */
  private held: bigint[] = [];
  /**
   * The newest versions of the last batches, which the processes know: late notifications of these batches would wake
   * every process for nothing.
   */
  private readonly announced: bigint[] = [];

  constructor(given: ResolvedOptions) {
    const { observer } = given;
    const options: ResolvedOptions = {
      ...given,
      sealing: asStored,
      observer: {
        ...observer,
        epoch: (change) => {
          observer.epoch(change);
          this.sendEpoch(this.clients);
        },
      },
    };
    this.database = new LocalDatabase(options, {
      batchEnded: (written) => this.batchEnded(written),
      hint: (newest, source) => this.hint(newest, source),
    });
    const mostRounds = Math.max(1, options.poolSize - 1);
    this.reads = new HubReads((read) => this.run(read), mostRounds);
    this.replicaReads = new HubReads((read) => this.runOnReplica(read), mostRounds);
  }

  /** Serves the process at the other end of the stream, until that process exits. */
  serve(stream: Socket): void {
    const client: HubClient = new HubClient(
      stream,
      (request) => this.take(client, request),
      () => this.clients.delete(client),
    );
  }

  /** Waits for writes in progress and closes every connection. */
  async stop(patienceMs: number): Promise<void> {
    const late = setTimeout(() => this.database.giveUp(), patienceMs);
    try {
      await this.database.stop();
      await this.database.close();
    } finally {
      clearTimeout(late);
    }
    for (const client of this.clients) client.close();
  }

  private take(client: HubClient, request: HubRequest): void {
    if (request[0] === 'follow') client.follow(request[2], request[3]);
    else if (request[0] === 'write') this.write(client, request[1], receiveWrite(request[2]));
    else void this.answer(client, request);
  }

  private write(client: HubClient, id: number, write: Write): void {
    this.database.writer.write(write).then(
      (answer) =>
        client.send(answer.kind === 'written' ? ['written', id, answer.resourceVersion] : ['answer', id, answer]),
      (error: unknown) => client.send(['failure', id, sendError(error)]),
    );
  }

  private async answer(client: HubClient, request: Asked): Promise<void> {
    const id = request[1];
    try {
      client.send(['answer', id, await this.do(client, request)]);
    } catch (error) {
      client.send(['failure', id, sendError(error)]);
    }
  }

  private do(client: HubClient, request: Asked): Promise<unknown> {
    const { writer, epochs } = this.database;
    switch (request[0]) {
      case 'observe':
        return this.observe(request[2]);
      case 'start':
        return this.start(client);
      case 'read':
        return this.reads.rows({ name: request[2], values: request[3], timeoutMs: request[4] });
      case 'read-replica':
        return this.replicaReads.rows({ name: request[2], values: request[3], timeoutMs: request[4] });
      case 'write-together':
        return writer.writeTogether(request[2].map(receiveWrite));
      case 'check-writes':
        return writer.check();
      case 'check-epoch':
        epochs.observe(request[2]);
        return epochs.check();
    }
  }

  /** The first process starts the work; the next caller retries a start that failed. */
  private async start(client: HubClient): Promise<void> {
    this.starting ??= this.database.start().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    await this.starting;
    if (client.isClosed) return;
    this.clients.add(client);
    this.sendEpoch([client]);
  }

  /** Takes note of a version that a process has read itself; of one that leaps ahead only if the history says so. */
  private async observe(version: bigint): Promise<boolean> {
    const { writer, epochs } = this.database;
    const leaps = () => version - epochs.seen >= SUSPICIOUS_LEAP;
    if (leaps()) await epochs.check();
    if (leaps()) return false;
    writer.observe(version);
    return true;
  }

  /** What a replica has counts as seen only when the primary says so: see `ReadReplica`. */
  private async runOnReplica({ name, values, timeoutMs }: Read): Promise<readonly Row[]> {
    const { replica } = this.database;
    if (replica === undefined) throw new StorageError('Invalid', 'there is no read replica');
    const statement = statementOf(name);
    return replica.run((session) => session.run(statement, values, timeoutMs), readLength(statement));
  }

  private async run({ name, values, timeoutMs }: Read): Promise<readonly Row[]> {
    const statement = statementOf(name);
    const run = () =>
      this.database.pool.run((session) => session.run(statement, values, timeoutMs), readLength(statement));
    if (!hasHead(statement)) return run();
    const rows = await this.database.epochs.read(1, run);
    // A version that any process reads counts as seen here.
    this.database.writer.observe(BigInt(text(rows[0] ?? [], 1)));
    return rows;
  }

  private batchEnded(written: WrittenBatch | undefined): void {
    if (written !== undefined) {
      const batch: BatchToSend = { written, frames: new Map() };
      for (const client of this.clients) client.sendBatch(batch);
      this.announced.push(written.newest);
      if (this.announced.length > MOST_TOLD) this.announced.shift();
    }
    const others = this.held.filter((version) => !this.announced.includes(version));
    this.held = [];
    if (others.length > 0) this.hint(others.reduce(later), 'notify');
  }

  /**
   * The notification of a batch may arrive before its response, so it waits for that response. Other machines may have
   * written before the batch: the versions that they announce are forwarded whatever the batch has written.
   */
  private hint(newest: bigint | undefined, source: 'notify' | 'poll'): void {
    if (newest !== undefined && this.database.writer.isSending) {
      this.held.push(newest);
      return;
    }
    if (newest !== undefined && this.announced.includes(newest)) return;
    for (const client of this.clients) client.send(['hint', newest, source]);
  }

  private sendEpoch(clients: Iterable<HubClient>): void {
    const { current, lost, seen } = this.database.epochs;
    if (current === undefined) return;
    for (const client of clients) client.send(['epoch', { epoch: current, lost, seen }]);
  }
}

function statementOf(name: string): Statement {
  const statement = readStatements.get(name);
  if (statement === undefined) throw new StorageError('Invalid', `there is no statement ${name}`);
  return statement;
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
