import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { silentObserver } from './options.js';
import { sqlState } from './postgres-errors.js';
import { Session } from './session.js';

/** A schema change that could not be made, or a database that this program does not understand. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export interface MigrationResult {
  /** Versions that this call applied, in order; empty when there was nothing to do. */
  readonly applied: readonly number[];
  /** Schema version of the database now. */
  readonly version: number;
}

const FILE_NAME = /^(\d{6})_([a-z0-9_]+)\.sql$/;
const STATEMENT_TIMEOUT_MS = 600_000;

function migrationsDirectory(): string {
  // Compiled code lies at another depth than its source: look upwards.
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const candidate = join(directory, 'migrations');
    if (existsSync(join(candidate, '000001_objects.sql'))) return candidate;
    if (directory === dirname(directory)) throw new MigrationError('the migrations folder is missing');
  }
}

/** The migrations this program brings along, by rising version. */
export async function loadMigrations(directory: string = migrationsDirectory()): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  for (const file of (await readdir(directory)).sort()) {
    const match = FILE_NAME.exec(file);
    if (match === null) continue;
    const version = Number(match[1]);
    if (version !== migrations.length + 1) throw new MigrationError(`migration ${file}: the numbers have a gap`);
    migrations.push({ version, name: match[2] ?? '', sql: await readFile(join(directory, file), 'utf8') });
  }
  return migrations;
}

/** Changes whenever the text of a migration does. */
export async function migrationsFingerprint(): Promise<string> {
  const hash = createHash('sha256');
  for (const migration of await loadMigrations()) hash.update(migration.sql);
  return hash.digest('hex').slice(0, 16);
}

/**
 * Brings the schema up to the version of this program, in one transaction. Several processes may do so at once: one
 * works, the others wait and find it done. Throws `MigrationError` when the database is newer than the program, too
 * old, a standby, or refuses for lack of permission.
 */
export async function migrate(databaseUrl: string, directory?: string): Promise<MigrationResult> {
  const migrations = await loadMigrations(directory);
  const session = await open(databaseUrl);
  try {
    await checkServer(session);
    await session.execute('begin', 'begin', STATEMENT_TIMEOUT_MS);
    // The transaction-level lock works behind a pooler too and ends with the connection.
    await session.execute('migrate-lock', 'select pg_advisory_xact_lock(7811071, 0)', STATEMENT_TIMEOUT_MS);
    await session.execute(
      'migrate-table',
      `create schema if not exists plinth;
       create table if not exists plinth.schema_migrations (
         version integer primary key, name text not null, applied_at timestamptz not null default clock_timestamp())`,
      STATEMENT_TIMEOUT_MS,
    );
    const current = await readVersion(session);
    if (current > migrations.length) throw tooNew(current, migrations.length);
    const pending = migrations.filter((migration) => migration.version > current);
    for (const migration of pending) {
      await session.execute('migrate', migration.sql, STATEMENT_TIMEOUT_MS);
      await session.run(
        { name: 'record-migration', text: 'insert into plinth.schema_migrations (version, name) values ($1, $2)' },
        [migration.version, migration.name],
        STATEMENT_TIMEOUT_MS,
      );
    }
    await session.execute('commit', 'commit', STATEMENT_TIMEOUT_MS);
    return { applied: pending.map((migration) => migration.version), version: migrations.length };
  } catch (error) {
    throw explain(error);
  } finally {
    await session.close();
  }
}

/** What is wrong with the schema for this program; undefined when it has exactly the right version. */
export async function schemaProblem(session: Session): Promise<MigrationError | undefined> {
  const wanted = (await loadMigrations()).length;
  let current = 0;
  try {
    current = await readVersion(session);
  } catch (error) {
    const state = sqlState(error);
    if (state === '42501') return explain(error);
    if (state !== '42P01' && state !== '3F000') throw error;
  }
  if (current > wanted) return tooNew(current, wanted);
  if (current === wanted) return undefined;
  return new MigrationError(`the database has schema version ${current}, this program needs ${wanted}: migrate first`);
}

async function readVersion(session: Session): Promise<number> {
  const rows = await session.execute(
    'schema-version',
    'select coalesce(max(version), 0) from plinth.schema_migrations',
    STATEMENT_TIMEOUT_MS,
  );
  return Number(rows[0]?.[0] ?? 0);
}

function tooNew(current: number, known: number): MigrationError {
  return new MigrationError(
    `the database has schema version ${current}, this program knows only ${known}: run a newer program`,
  );
}

async function open(url: string): Promise<Session> {
  try {
    return await Session.open({
      url,
      applicationName: 'plinth migrate',
      connectTimeoutMs: 10_000,
      role: 'writer',
      observer: silentObserver,
    });
  } catch (error) {
    throw new MigrationError(`the database can't be reached: ${(error as Error).message}`, { cause: error });
  }
}

async function checkServer(session: Session): Promise<void> {
  const [row] = await session.execute(
    'server-facts',
    `select current_setting('server_version_num'), pg_is_in_recovery(), current_setting('server_encoding')`,
    STATEMENT_TIMEOUT_MS,
  );
  if (Number(row?.[0]) < 140_000) throw new MigrationError('PostgreSQL 14 or newer is needed');
  if (row?.[1] === 't') throw new MigrationError('the database is a standby; connect to the primary');
  if (row?.[2] !== 'UTF8') throw new MigrationError(`the database must have encoding UTF8, not ${row?.[2]}`);
}

function explain(error: unknown): MigrationError {
  if (error instanceof MigrationError) return error;
  const state = sqlState(error);
  const reason = error instanceof Error ? error.message : String(error);
  if (state === '42501') {
    return new MigrationError(
      `the database role lacks a permission (it needs CREATE on the database and to own the schema plinth): ${reason}`,
      { cause: error },
    );
  }
  return new MigrationError(`migration failed${state === undefined ? '' : ` (SQLSTATE ${state})`}: ${reason}`, {
    cause: error,
  });
}
