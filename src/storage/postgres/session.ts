import { performance } from 'node:perf_hooks';
import pg from 'pg';
import { StorageError } from '../storage.errors.js';
import type { StorageObserver } from './options.js';

/** A row as the wire has it: text of every column, null for NULL. */
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
  readonly role: 'writer' | 'reader' | 'listener';
  readonly observer: StorageObserver;
}

export type StatementValue = string | number | bigint | Buffer | null;

const asText = (value: string): string => value;
const rawTypes = { getTypeParser: () => asText };

/**
 * One connection. Every value comes back as text: JSON is passed on as it was stored, and versions don't fit a
 * JavaScript number. One statement at a time. A statement that exceeds its time limit destroys the connection, since
 * nothing can be known of it any more.
 */
export class Session {
  readonly #client: pg.Client;
  readonly #observer: StorageObserver;
  readonly #role: SessionOptions['role'];
  #broken = false;
  #closing = false;
  readonly #onBroken: (() => void)[] = [];

  private constructor(client: pg.Client, options: SessionOptions) {
    this.#client = client;
    this.#observer = options.observer;
    this.#role = options.role;
    const lost = (): void => this.#markBroken();
    client.on('error', lost);
    client.on('end', lost);
  }

  static async open(options: SessionOptions): Promise<Session> {
    const target = connectionTarget(options.url);
    try {
      return await Session.#connect(options, target.connectionString);
    } catch (error) {
      if (target.inTheClear !== undefined && error instanceof Error && error.message.includes('does not support SSL')) {
        return await Session.#connect(options, target.inTheClear);
      }
      throw error;
    }
  }

  static async #connect(options: SessionOptions, connectionString: string): Promise<Session> {
    const client = new pg.Client({
      connectionString,
      types: rawTypes as unknown as pg.CustomTypesConfig,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: options.connectTimeoutMs,
      application_name: options.applicationName,
    });
    const session = new Session(client, options);
    try {
      await client.connect();
    } catch (error) {
      session.destroy();
      throw error;
    }
    if (session.#broken) throw new Error('the connection ended while it was made');
    return session;
  }

  get broken(): boolean {
    return this.#broken;
  }

  /** Server process id, for tests and logs. */
  get backendPid(): number {
    return (this.#client as unknown as { processID: number }).processID;
  }

  /** Calls back once when the connection is gone, at once when it already is. */
  onBroken(callback: () => void): void {
    if (this.#broken) callback();
    else this.#onBroken.push(callback);
  }

  onNotification(callback: (payload: string) => void): void {
    this.#client.on('notification', (message) => callback(message.payload ?? ''));
  }

  /** Runs a prepared statement; rejects with the driver's error (see `failureKind`). */
  async run(statement: Statement, values: readonly StatementValue[], timeoutMs: number): Promise<Row[]> {
    return this.#timed(statement.name, timeoutMs, () =>
      this.#client.query<(string | null)[]>({
        name: statement.name,
        text: statement.text,
        values: values as unknown[],
        rowMode: 'array',
      }),
    );
  }

  /** Runs plain SQL (one or several statements, without parameters) in the simple protocol. */
  async execute(name: string, sql: string, timeoutMs: number): Promise<Row[]> {
    return this.#timed(name, timeoutMs, () => this.#client.query<(string | null)[]>({ text: sql, rowMode: 'array' }));
  }

  async #timed(name: string, timeoutMs: number, call: () => Promise<pg.QueryArrayResult<(string | null)[]>>) {
    const began = performance.now();
    let failed = true;
    const timer = setTimeout(() => this.destroy(), timeoutMs);
    try {
      const result = await call();
      failed = false;
      return result.rows ?? [];
    } finally {
      clearTimeout(timer);
      this.#observer.query(name, performance.now() - began, failed);
    }
  }

  /** Ends the connection without waiting; a running statement rejects. */
  destroy(): void {
    const { connection } = this.#client as unknown as { connection: { stream: { destroy(error?: Error): void } } };
    connection.stream.destroy();
    this.#markBroken();
  }

  /** Says goodbye to the server; falls back to `destroy` when it doesn't listen. */
  async close(): Promise<void> {
    if (this.#broken) return;
    this.#closing = true;
    const timer = setTimeout(() => this.destroy(), 1_000);
    try {
      await this.#client.end();
    } catch {
      this.destroy();
    } finally {
      clearTimeout(timer);
    }
  }

  #markBroken(): void {
    if (this.#broken) return;
    this.#broken = true;
    if (!this.#closing) this.#observer.connectionLost(this.#role);
    for (const callback of this.#onBroken.splice(0)) callback();
  }
}

const SSL_MODES = new Set(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']);

/**
 * Makes TLS parameters of a connection URL mean what they mean to libpq. The driver's own reading differs: it treats
 * `require` as `verify-full`, so that the URLs of managed databases fail, and does not know `sslrootcert=system`.
 * `inTheClear` is for a server without TLS, where the URL allows that. Throws `Unavailable` for a mode that nobody
 * knows rather than connecting in the clear.
 */
export function connectionTarget(url: string): { connectionString: string; inTheClear: string | undefined } {
  const question = url.indexOf('?');
  if (question < 0) return { connectionString: url, inTheClear: undefined };
  const parameters = new URLSearchParams(url.slice(question + 1));
  const build = (): string => `${url.slice(0, question)}?${parameters.toString()}`;
  let mode = parameters.get('sslmode');
  if (mode !== null && !SSL_MODES.has(mode)) {
    throw new StorageError('Unavailable', `database URL: sslmode must be one of ${[...SSL_MODES].join(', ')}`);
  }
  if (parameters.get('sslrootcert') === 'system') {
    parameters.delete('sslrootcert');
    mode = 'verify-full';
    parameters.set('sslmode', mode);
  }
  if (mode === 'no-verify') parameters.delete('uselibpqcompat');
  else if (mode !== null && !parameters.has('uselibpqcompat')) parameters.set('uselibpqcompat', 'true');
  if (mode !== 'allow' && mode !== 'prefer') return { connectionString: build(), inTheClear: undefined };
  parameters.set('sslmode', 'prefer');
  const connectionString = build();
  parameters.set('sslmode', 'disable');
  return { connectionString, inTheClear: build() };
}
