import type pg from 'pg';
import { cancelStatement } from '../../base/database/cancel-statement.js';
import { connectDatabase, type DatabaseConnection } from '../../base/database/connect-database.js';
import { databaseTargets } from '../../base/database/database-targets.js';
import type { Protection } from '../../base/database/protection.js';
import { FairSeats } from './fair-seats.js';
import { NoSeat } from './no-seat.js';
import { canMeddle } from './sessions-apart.js';
import { SqlBusy } from './sql-busy.js';
import { SqlError } from './sql-error.js';
import { SqlRoleError } from './sql-role-error.js';

/** Rows of strings, as the database writes the values; null stands for no value. */
export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Whether there are more rows than are shown. */
  readonly isCut: boolean;
  readonly ms: number;
  /** Whether the rows are the lines of a plan. */
  readonly isPlan?: boolean;
}

/** A query that a user typed. */
export interface SqlQuestion {
  readonly text: string;
  /** Of the parameters `$1` and so on. */
  readonly values?: readonly string[];
  /** Whether the plan is wanted, with the times of its steps, in place of the rows. The query is run for it. */
  readonly isPlan?: boolean;
}

export interface SqlLimits {
  readonly timeoutMs: number;
  readonly rows: number;
}

/**
 * Each seat takes a connection, and up to `mostReceived` bytes. Nobody can take all: two more users find a seat at
 * once.
 */
const seatLimits = { seats: 6, seatsOfUser: 2, waitingOfUser: 8 } as const;
/**
 * How much longer than the time limit of a query another query may wait for a seat, in milliseconds: by then the seats
 * of others are free.
 */
const moreWaitMs = 15_000;
const mostBytes = 8 * 1024 * 1024;
/** The most bytes accepted from the database before they are examined: a single value may have a gigabyte. */
const mostReceived = 4 * mostBytes;
const batch = 100;
/**
 * Why a role must not be used: the roles it may switch to count as well, since a query can change the role. Catalogs
 * are open to everybody.
 */
const roleProblem = `
select case
  when bool_or(r.rolsuper) then 'is a superuser'
  when bool_or(r.rolname like 'pg\\_%') then 'may read all data, or files of the server, or write, or run programs'
  else 'may read the stored objects, with the values of Secrets'
end
from pg_catalog.pg_roles r
left join (pg_catalog.pg_class o join pg_catalog.pg_namespace n on n.oid = o.relnamespace and n.nspname = 'plinth')
  on o.relname in ('objects', 'changes', 'history', 'audit_events', 'server_keys')
where pg_catalog.pg_has_role(session_user, r.oid, 'member') and (r.rolsuper
  or r.rolname in ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
  or pg_catalog.has_any_column_privilege(r.oid, o.oid, 'select'))
having count(*) > 0`;
const connectMs = 10_000;
const outOfTime = 'the time for one question is over';
/**
 * How long the database may take, after the time limit of a statement, to report that it was reached, in milliseconds.
 */
const graceMs = 2000;

/**
 * Sends a database queries that a user typed. Each gets a connection of its own, so that settings changed by a query
 * are gone with it, and a read-only transaction. The text becomes a cursor, which accepts a query and nothing else, and
 * is sent over the protocol that accepts only one statement. The database decides what the role may see.
 */
export class SqlReader {
  private readonly seats: FairSeats;

  /** @throws DatabaseUrlError */
  constructor(
    private readonly url: string,
    readonly limits: SqlLimits,
  ) {
    databaseTargets(url);
    this.seats = new FairSeats({ ...seatLimits, waitMs: limits.timeoutMs + moreWaitMs });
  }

  /**
   * Checks whether the role of the URL may send queries, how the connection is protected, and whether those who share
   * the role can end each other's queries.
   *
   * @throws SqlRoleError when it may do more than it should; SqlError when the database can't be queried
   */
  async check(): Promise<{ readonly protection: Protection; readonly canMeddle: boolean }> {
    const connection = await this.connect().catch(asSqlError);
    try {
      await checkRole(connection.client);
      return { protection: connection.protection, canMeddle: await canMeddle(connection.client) };
    } catch (error) {
      return asSqlError(error);
    } finally {
      void connection.client.end().catch(() => {});
    }
  }

  /**
   * Waits for its turn first, if the user or others have queries under way.
   *
   * @param user the user whose limits the query counts against
   * @param question a text is a question without parameters, for its rows
   * @param signal aborted when the client has gone
   *
   * @throws SqlError, SqlBusy
   */
  async ask(user: string, question: string | SqlQuestion, signal?: AbortSignal): Promise<SqlAnswer> {
    const free = await this.seats.take(user, signal).catch((error: unknown) => {
      throw error instanceof NoSeat ? new SqlBusy(error.message) : new SqlError((error as Error).message);
    });
    try {
      return await this.askNow(typeof question === 'string' ? { text: question } : question, signal);
    } finally {
      free();
    }
  }

  private async askNow(question: SqlQuestion, signal: AbortSignal | undefined): Promise<SqlAnswer> {
    let isLate = false;
    let connection: DatabaseConnection | undefined;
    let late: ReturnType<typeof setTimeout> | undefined;
    const stop = () => this.abandon(connection);
    try {
      connection = await this.connect(signal);
      const { client } = connection;
      limitReceived(connection);
      // A query can remove the limit of its own statements.
      late = setTimeout(() => {
        isLate = true;
        stop();
      }, this.limits.timeoutMs + graceMs);
      signal?.addEventListener('abort', stop);
      await checkRole(client);
      signal?.throwIfAborted();
      return await this.read(client, question);
    } catch (error) {
      if (error instanceof SqlRoleError) throw error;
      throw new SqlError(isLate ? outOfTime : (error as Error).message, { cause: error });
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', stop);
      // A connection that is stuck is closed; errors while closing it don't matter.
      void connection?.client.end().catch(() => {});
    }
  }

  /** Connects to the first host of the URL that answers. */
  private async connect(signal?: AbortSignal): Promise<DatabaseConnection> {
    let failure: unknown;
    for (const target of databaseTargets(this.url)) {
      try {
        return await connectDatabase({ target, config: this.config, timeoutMs: connectMs, signal });
      } catch (error) {
        failure ??= error;
        if (signal?.aborted === true) break;
      }
    }
    throw failure;
  }

  private get config(): pg.ClientConfig {
    return {
      statement_timeout: this.limits.timeoutMs,
      idle_in_transaction_session_timeout: this.limits.timeoutMs + graceMs,
      application_name: 'plinth-console',
      // Numbers and times stay as the database writes them.
      types: { getTypeParser: () => (value: unknown) => String(value) } as unknown as pg.CustomTypesConfig,
    };
  }

  /** Ends a connection and its query: the database itself does not check whether anybody still listens. */
  private abandon(connection: DatabaseConnection | undefined): void {
    if (connection === undefined) return;
    void cancelStatement(connection);
    connection.stream.destroy();
  }

  private async read(client: pg.Client, { text, values = [], isPlan = false }: SqlQuestion): Promise<SqlAnswer> {
    const began = performance.now();
    // As in `select * from pods`: people need not know the schema of the views.
    await client.query('begin transaction read only; set local search_path to cluster, public');
    const question = text.trim().replace(/;\s*$/, '');
    // The line break ends a comment at the end of the query.
    const cursor = `declare question no scroll cursor for ${question}\n`;
    await client.query({ text: cursor, values: [...values], queryMode: 'extended' } as pg.QueryConfig);
    // The cursor has taken the text as one query, so nothing else can follow the word here.
    if (isPlan) return planOf(client, { text: question, values }, began);
    const rows: (string | null)[][] = [];
    let columns: readonly string[] = [];
    let bytes = 0;
    for (;;) {
      const page = await client.query<(string | null)[]>({ text: `fetch ${batch} from question`, rowMode: 'array' });
      columns = page.fields.map(({ name }) => name);
      for (const row of page.rows) {
        bytes += row.reduce((sum, cell) => sum + (cell?.length ?? 4), 0);
        if (rows.length >= this.limits.rows || bytes > mostBytes) {
          return { columns, rows, isCut: true, ms: performance.now() - began };
        }
        rows.push(row);
      }
      if (page.rows.length < batch) return { columns, rows, isCut: false, ms: performance.now() - began };
      if (performance.now() - began > this.limits.timeoutMs) throw new Error(outOfTime);
    }
  }
}

/** Runs a query for its plan. Its rows stay in the database. */
async function planOf(client: pg.Client, { text, values = [] }: SqlQuestion, began: number): Promise<SqlAnswer> {
  const explain = `explain (analyze, buffers) ${text}\n`;
  const query = { text: explain, values: [...values], rowMode: 'array', queryMode: 'extended' };
  const { fields, rows } = await client.query<[string]>(query as pg.QueryArrayConfig);
  const ms = performance.now() - began;
  return { columns: fields.map(({ name }) => name), rows, isCut: false, ms, isPlan: true };
}

async function checkRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query<[string]>({ text: roleProblem, rowMode: 'array' });
  if (rows[0] === undefined) return;
  throw new SqlRoleError(
    `the role of the console ${rows[0][0]}: give it one that may read the views and no more (plinth_reader)`,
  );
}

function asSqlError(error: unknown): never {
  throw error instanceof SqlError ? error : new SqlError((error as Error).message, { cause: error });
}

function limitReceived({ stream }: DatabaseConnection): void {
  let received = 0;
  // Before the driver, which leaves nothing of a piece that it has read.
  stream.prependListener('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > mostReceived) stream.destroy(new Error(`the answer has more than ${mostReceived} bytes`));
  });
}

/** The history of an object, the newest first (docs/history.md). */
export const timelineQuery =
  'select version, at, verb, manager, username, diff from cluster.history($1, $2, $3) order by version desc';
