import { sqlState } from '../../base/database/sql-state.js';
import { quoteName, quoteText } from '../../base/database/sql-text.js';
import { MigrationError } from './migration-error.js';
import { openCommandSession } from './open-command-session.js';
import { readerFunctions, readerRole } from './reader-rights.js';
import { calledFirst, isLaterRelease, loadSchemaTexts, type SchemaText, type SchemaTexts } from './schema-texts.js';
import { Session } from './session.js';

export interface MigrationResult {
  /** Versions that this call applied, in order; empty when there was nothing to do. */
  readonly applied: readonly number[];
  /** Functions that this call created or replaced. */
  readonly functions: readonly string[];
  /** Schema version of the database now. */
  readonly version: number;
}

/**
 * A process that changes the schema, its functions or the SQL views holds this lock until the end of the transaction.
 */
export const LOCK_MIGRATIONS = 'lock table plinth.lock_migrations in exclusive mode';

const STATEMENT_TIMEOUT_MS = 600_000;
/** How many times processes that start at the same time in an empty database may collide before their lock exists. */
const MOST_COLLISIONS = 20;
/** SQLSTATEs for a schema or table that another process has just created. */
const MADE_MEANWHILE = ['23505', '42P06', '42P07', '42710', 'XX000'];

/**
 * Upgrades the schema to the version of this program, in one transaction. Several processes may call it at once: one
 * works, the others wait and find it done. A function is replaced when its text differs, unless a later release of the
 * program put it there: its functions also serve processes of the release before. Throws `MigrationError` when the
 * database is newer than the program, has a schema that can't be upgraded, is a standby, or denies a permission.
 */
export async function migrate(databaseUrl: string, directory?: string): Promise<MigrationResult> {
  const texts = loadSchemaTexts(directory);
  const session = await openCommandSession(databaseUrl, 'plinth migrate');
  try {
    await checkServer(session);
    await begin(session, texts.locks);
    const state = await readState(session);
    if (state.problem !== undefined) throw state.problem;
    checkKnown(state, texts);
    const result = await apply(session, state, texts);
    await execute(session, 'commit');
    return result;
  } catch (error) {
    throw explain(error);
  } finally {
    await session.close();
  }
}

/** The reason why this program can't work with the schema; undefined when it can. */
export async function schemaProblem(session: Session): Promise<MigrationError | undefined> {
  const texts = loadSchemaTexts();
  let state: SchemaState;
  try {
    state = await readState(session);
    if (state.problem !== undefined) return state.problem;
    checkKnown(state, texts);
  } catch (error) {
    if (error instanceof MigrationError || sqlState(error) === '42501') return explain(error);
    throw error;
  }
  const wanted = texts.migrations.length;
  const current = state.migrations.size;
  if (current < wanted) {
    return new MigrationError(
      `the database has schema version ${current}, this program needs ${wanted}: migrate first`,
    );
  }
  if (outdated(state, texts).length === 0) return undefined;
  return new MigrationError('the functions in the database are not those of this program: migrate first');
}

/** The schema as recorded in the database: applied migrations and installed functions. */
interface SchemaState {
  /** Digests by version. */
  readonly migrations: ReadonlyMap<number, string>;
  /** Digests of the functions and the locks, with the release that applied each. */
  readonly texts: ReadonlyMap<string, { readonly digest: string; readonly release: string }>;
  /** Why the schema can't be used at all. */
  readonly problem?: MigrationError;
}

/** Begins the transaction and takes the lock. The first process ever must create the lock. */
async function begin(session: Session, locks: SchemaText): Promise<void> {
  for (let collisions = 0; ; collisions++) {
    await execute(session, 'begin');
    // Names in the texts must mean the built-in functions, whatever the role's `search_path`.
    await execute(session, 'set local search_path = pg_catalog, pg_temp');
    try {
      const [found] = await execute(session, LOCKS_EXIST);
      if (isForeign(found)) throw foreignSchema();
      if (found?.[0] !== 't' && found?.[1] !== 't') await execute(session, locks.sql);
      if (found?.[1] !== 't') await execute(session, LOCK_MIGRATIONS);
      return;
    } catch (error) {
      if (!MADE_MEANWHILE.includes(sqlState(error) ?? '') || collisions === MOST_COLLISIONS) throw error;
      await execute(session, 'rollback');
    }
  }
}

/**
 * The second column shows a schema from before the first release; the third, tables other than the two of the first
 * column.
 */
const LOCKS_EXIST = `select
  to_regclass('plinth.lock_migrations') is not null and to_regclass('plinth.applied_texts') is not null,
  to_regclass('plinth.schema_migrations') is not null,
  exists (select from pg_class where relnamespace = to_regnamespace('plinth') and relkind in ('r', 'p', 'v', 'm', 'f')
    and relname not in ('lock_migrations', 'applied_texts'))`;

/** Whether the schema contains something that this program did not create, by a row of {@link LOCKS_EXIST}. */
function isForeign(found: readonly (string | null)[] | undefined): boolean {
  return found?.[0] !== 't' && found?.[1] !== 't' && found?.[2] === 't';
}

function foreignSchema(): MigrationError {
  return new MigrationError(
    'the schema plinth of this database has tables of another program: use an empty database (nothing was changed)',
  );
}

async function readState(session: Session): Promise<SchemaState> {
  const [found] = await execute(session, LOCKS_EXIST);
  if (found?.[1] === 't') {
    const problem = new MigrationError(
      "the database was made by a program from before the first release, which this one can't upgrade: use an empty " +
        'database (nothing was changed)',
    );
    return { migrations: new Map(), texts: new Map(), problem };
  }
  if (isForeign(found)) return { migrations: new Map(), texts: new Map(), problem: foreignSchema() };
  if (found?.[0] !== 't') return { migrations: new Map(), texts: new Map() };
  const migrations = await execute(session, 'select version, digest from plinth.applied_migrations');
  const texts = await execute(session, 'select name, digest, release from plinth.applied_texts');
  return {
    migrations: new Map(migrations.map((row) => [Number(row[0]), String(row[1])])),
    texts: new Map(texts.map((row) => [String(row[0]), { digest: String(row[1]), release: String(row[2]) }])),
  };
}

/** @throws MigrationError when migrations were applied that this program does not have. */
function checkKnown(state: SchemaState, texts: SchemaTexts): void {
  const current = Math.max(0, ...state.migrations.keys());
  const known = texts.migrations.length;
  if (current > known) {
    throw new MigrationError(
      `the database has schema version ${current}, this program knows only ${known}: run a newer program`,
    );
  }
  for (const { version, name, digest } of texts.migrations) {
    const applied = state.migrations.get(version);
    if (applied === undefined || applied === digest) continue;
    throw new MigrationError(
      `migration ${version} (${name}) was applied with another text than this program has: use the program that made ` +
        'the database, or an empty database',
    );
  }
}

/** Functions and locks that must be applied again; none if a later release has applied its own. */
function outdated(state: SchemaState, { locks, functions, release }: SchemaTexts): readonly SchemaText[] {
  for (const applied of state.texts.values()) if (isLaterRelease(applied.release, release)) return [];
  return [locks, ...functions].filter((text) => state.texts.get(text.name)?.digest !== text.digest);
}

/**
 * By default everybody may execute a new function, and some functions of earlier releases. The reader role keeps its
 * rights meanwhile; where that role does not exist yet, the process that creates it grants them.
 */
const functionRights = `
  revoke execute on all functions in schema plinth from public;
  revoke execute on function ${readerFunctions.join(', ')} from public;
  do $$ begin
    if exists (select from pg_roles where rolname = ${quoteText(readerRole)}) then
      grant execute on function ${readerFunctions.join(', ')} to ${quoteName(readerRole)};
    end if;
  end $$`;

async function apply(session: Session, state: SchemaState, texts: SchemaTexts): Promise<MigrationResult> {
  const pending = texts.migrations.filter(({ version }) => !state.migrations.has(version));
  const changed = outdated(state, texts);
  const record = (text: SchemaText) =>
    execute(
      session,
      `insert into plinth.applied_texts (name, digest, release)
       values (${quoteText(text.name)}, ${quoteText(text.digest)}, ${quoteText(texts.release)})
       on conflict (name) do update set
         digest = excluded.digest, release = excluded.release, applied_at = clock_timestamp()`,
    );
  if (changed.includes(texts.locks)) {
    await execute(session, texts.locks.sql);
    await record(texts.locks);
  }
  for (const { version, name, digest, sql } of pending) {
    await execute(session, sql);
    await execute(
      session,
      `insert into plinth.applied_migrations (version, name, digest)
       values (${version}, ${quoteText(name)}, ${quoteText(digest)})`,
    );
  }
  const functions = calledFirst(texts.functions).filter((text) => changed.includes(text));
  for (const text of functions) {
    await execute(session, text.sql);
    await record(text);
  }
  if (functions.length > 0) {
    await execute(session, functionRights);
  }
  if (pending.length > 0 && functions.some(({ name }) => name === 'add_change_partitions')) {
    await execute(session, 'select plinth.add_change_partitions(3)');
  }
  return {
    applied: pending.map(({ version }) => version),
    functions: functions.map(({ name }) => name),
    version: texts.migrations.length,
  };
}

function execute(session: Session, sql: string): ReturnType<Session['execute']> {
  return session.execute('migrate', sql, STATEMENT_TIMEOUT_MS);
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
