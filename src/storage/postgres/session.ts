import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { connectDatabase } from '../../base/database/connect-database.js';
import { type DatabaseTarget, databaseTargets, type WantedServer } from '../../base/database/database-targets.js';
import { DatabaseUrlError } from '../../base/database/database-url-error.js';
import { type Protection, protectionProblem } from '../../base/database/protection.js';
import { noPassword } from '../../base/database/sql-state.js';
import { Deadlines } from '../../base/machinery/deadlines.js';
import { currentRequestId } from '../../base/observability/trace-scope.js';
import { StorageError } from '../storage-error.js';
import { textArray } from './binary-array.js';
import type { StorageObserver } from './postgres-storage-options.js';
import { type CallValue, PreparedCall } from './prepared-call.js';

/** A row of the wire protocol: text of every column, null for NULL. */
export type Row = readonly (string | null)[];

/** A statement prepared once per connection; the name is also its label in measurements. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly connectTimeoutMs: number;
  /** `replica`: reads from a standby, and from nothing else. */
  readonly role: 'writer' | 'reader' | 'listener' | 'replica';
  readonly observer: StorageObserver;
  /** Ends the connection at once when aborted, even while it is being made. */
  readonly signal?: AbortSignal | undefined;
  readonly limits?: ServerLimits | undefined;
}

/**
 * How long the server continues a statement, in milliseconds, unless the statement is cancelled earlier. The server
 * does not notice that the caller has given up: without a limit, every such call leaves behind a session that waits for
 * a lock or computes. Not used behind a pooler, where the limits would stay on a connection that serves others.
 */
export interface ServerLimits {
  readonly lockMs: number;
  readonly statementMs: number;
}

/** A list of strings is sent as `text[]`. */
export type StatementValue = string | number | bigint | Buffer | readonly (string | null)[] | null;

/** How long a result that arrives in many pieces is still read after its time limit, in milliseconds. */
const longestArrivalMs = 1_000;
const asText = (value: string): string => value;
const rawTypes = { getTypeParser: () => asText };

/**
 * One connection. Every value is returned as text: JSON is passed on as stored, and versions don't fit a JavaScript
 * number. It runs one statement at a time. A statement that exceeds its time limit destroys the connection, whose state
 * is unknown from then on.
 */
export class Session {
  private readonly client: pg.Client;
  private readonly observer: StorageObserver;
  private readonly role: SessionOptions['role'];
  private isPooled = false;
  private isBroken = false;
  private closing = false;
  private readonly brokenCallbacks: (() => void)[] = [];
  private readonly limits = new Deadlines();

  private constructor(
    client: pg.Client,
    options: SessionOptions,
    /** How the connection is protected in transit. */
    readonly protection: Protection,
  ) {
    this.client = client;
    this.observer = options.observer;
    this.role = options.role;
    client.on('error', (error) => this.markBroken(error));
    client.on('end', () => this.markBroken());
  }

  /**
   * Connects to the first host of the URL that answers and is not a standby. A single host is used even if it is a
   * standby: its responses to later statements show this. For the role `replica` it is the first host that is a
   * standby. Rejects with the error of the first host that can't be used.
   */
  static async open(options: SessionOptions): Promise<Session> {
    const wantsStandby = options.role === 'replica';
    const targets = targetsOf(options.url, wantsStandby ? 'standby' : 'primary');
    let failure: unknown;
    for (const target of targets) {
      try {
        const session = await Session.connect(options, target);
        const standby = await session.look(options.connectTimeoutMs);
        await session.limit(options);
        if (wantsStandby) {
          await session.readStandby(standby, options.connectTimeoutMs);
          return session;
        }
        if (!standby || targets.length === 1) return session;
        await session.close();
        failure = new StorageError('Unavailable', 'every host of the database is a standby or does not answer');
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  }

  private static async connect(options: SessionOptions, target: DatabaseTarget): Promise<Session> {
    const { signal } = options;
    try {
      if (isAborted(signal)) throw new StorageError('Closed', 'storage is shutting down');
      const { client, protection } = await connectDatabase({
        target,
        config: {
          types: rawTypes as unknown as pg.CustomTypesConfig,
          keepAlive: true,
          keepAliveInitialDelayMillis: 10_000,
          application_name: options.applicationName,
        },
        timeoutMs: options.connectTimeoutMs,
        signal,
      });
      const session = new Session(client, options, protection);
      const giveUp = (): void => session.destroy();
      signal?.addEventListener('abort', giveUp);
      session.onBroken(() => signal?.removeEventListener('abort', giveUp));
      if (isAborted(signal)) giveUp();
      const problem = protectionProblem(protection);
      if (problem !== undefined) options.observer.unprotected(problem);
      return session;
    } catch (error) {
      const reason = connectionProblem(error);
      options.observer.connectionLost(options.role, reason);
      throw reason;
    }
  }

  /**
   * Finds out what kind of server the connection leads to; true for a standby. A pooler invents the process id that it
   * reports, so that id differs from the server's own.
   */
  private async look(timeoutMs: number): Promise<boolean> {
    try {
      // Anyone who may create functions in a schema on the role's path could replace built-in ones.
      const [row] = await this.execute(
        'look',
        `select pg_backend_pid(), pg_is_in_recovery(), case when pg_backend_pid() = ${Number(this.backendPid)}
           then set_config('search_path', 'pg_catalog, pg_temp', false) end`,
        timeoutMs,
      );
      this.isPooled = row?.[0] !== String(this.backendPid);
      return row?.[1] === 't';
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Declares to the functions of the schema that the connection is meant to read a standby. */
  private async readStandby(isStandby: boolean, timeoutMs: number): Promise<void> {
    const problem = isStandby
      ? 'the read replica is reached through a pooler, which does not keep the settings of a session'
      : 'the read replica is not a standby';
    if (!isStandby || this.isPooled) {
      await this.close();
      throw new StorageError('Unavailable', problem);
    }
    try {
      await this.execute('read-standby', `select set_config('plinth.reads_standby', 'on', false)`, timeoutMs);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  private async limit({ limits, connectTimeoutMs }: SessionOptions): Promise<void> {
    if (limits === undefined || this.isPooled) return;
    try {
      await this.execute(
        'limit',
        `select count(set_config(l.name, l.ms::text, false))
         from (values ('lock_timeout', ${limits.lockMs}), ('statement_timeout', ${limits.statementMs})) l (name, ms)
         where extract(epoch from current_setting(l.name)::interval) * 1000 not between 1 and l.ms`,
        connectTimeoutMs,
      );
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /**
   * Whether a pooler stands in between, which may run each transaction on another server connection. Then nothing may
   * be left behind on the server: no prepared statements, no settings.
   */
  get pooled(): boolean {
    return this.isPooled;
  }

  get broken(): boolean {
    return this.isBroken;
  }

  /** Server process id, for tests and logs; a pooler reports an invented one. */
  get backendPid(): number {
    return (this.client as unknown as { processID: number }).processID;
  }

  /** Calls back once when the connection is gone; at once if it already is. */
  onBroken(callback: () => void): void {
    if (this.isBroken) callback();
    else this.brokenCallbacks.push(callback);
  }

  onNotification(callback: (payload: string) => void): void {
    this.client.on('notification', (message) => callback(message.payload ?? ''));
  }

  /** Runs a prepared statement (behind a pooler one without a name); rejects with the driver's error (see `failureKind`). */
  run(statement: Statement, values: readonly StatementValue[], timeoutMs: number): Promise<Row[]> {
    return this.timed(statement.name, timeoutMs, (done) => {
      const name = this.isPooled ? '' : statement.name;
      const sent = values.map((value) => (Array.isArray(value) ? textArray(value) : (value as CallValue)));
      void this.client.query(new PreparedCall(name, statement.text, sent, done));
    });
  }

  /** Runs plain SQL (one or several statements, without parameters) in the simple protocol. */
  execute(name: string, sql: string, timeoutMs: number): Promise<Row[]> {
    return this.timed(name, timeoutMs, (done) => {
      const query = { text: sql, rowMode: 'array' as const };
      // Several statements have several results, which no caller needs.
      void this.client.query<Row>(query, (error: Error | null, result) =>
        done(error, error ? [] : (result.rows ?? [])),
      );
    });
  }

  /**
   * Uses callbacks: the driver's promises let each result hold on to later ones, so that all rows are moved to the old
   * generation before they are collected (measured: a fifth of the CPU time of gets).
   */
  private timed(
    name: string,
    timeoutMs: number,
    ask: (done: (error: Error | null, rows: Row[]) => void) => void,
  ): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const began = performance.now();
      const requestId = currentRequestId();
      let isRunning = true;
      const limit = this.limits.begin(timeoutMs, () =>
        this.expire(() => isRunning, performance.now() + longestArrivalMs),
      );
      const done = (error: unknown, rows: Row[]): void => {
        isRunning = false;
        this.limits.end(limit);
        this.observer.query(name, performance.now() - began, error !== null, requestId);
        if (error === null) resolve(rows);
        else reject(error);
      };
      try {
        ask(done);
      } catch (error) {
        done(error, []);
      }
    });
  }

  /**
   * Destroys the connection, unless the response has already arrived. After the process was blocked, timers run before
   * anything is read: data that has arrived meanwhile is read first, piece by piece.
   */
  private expire(isRunning: () => boolean, until: number): void {
    const { bytesRead } = this.stream;
    setImmediate(() => {
      if (!isRunning() || this.isBroken) return;
      if (this.stream.bytesRead > bytesRead && performance.now() < until) this.expire(isRunning, until);
      else this.destroy();
    });
  }

  private get stream(): Socket {
    return (this.client as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  /** Closes the connection without waiting; a running statement rejects. */
  destroy(): void {
    this.stream.destroy();
    this.markBroken();
  }

  /** Ends the session with the server in an orderly way; falls back to `destroy` when the server does not react. */
  async close(): Promise<void> {
    if (this.isBroken) return;
    this.closing = true;
    const timer = setTimeout(() => this.destroy(), 1_000);
    try {
      await this.client.end();
    } catch {
      this.destroy();
    } finally {
      clearTimeout(timer);
    }
  }

  private markBroken(reason?: unknown): void {
    if (this.isBroken) return;
    this.isBroken = true;
    this.limits.stop();
    if (!this.closing) this.observer.connectionLost(this.role, reason);
    for (const callback of this.brokenCallbacks.splice(0)) callback();
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function targetsOf(url: string, wanted: WantedServer): readonly DatabaseTarget[] {
  try {
    return databaseTargets(url, undefined, wanted);
  } catch (error) {
    if (error instanceof DatabaseUrlError) throw new StorageError('Unavailable', error.message, { cause: error });
    throw error;
  }
}

/**
 * Replaces the driver's error, when the server requires a password and the driver has none, by one that names the
 * cause.
 */
function connectionProblem(error: unknown): unknown {
  if (
    !(error instanceof Error) ||
    !error.message.startsWith('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be')
  )
    return error;
  return new Error(noPassword, { cause: error });
}
