import { randomBytes } from 'node:crypto';
import { sqlState } from '../../base/database/sql-state.js';
import { quoteName, quoteText } from '../../base/database/sql-text.js';
import { silentObserver } from './postgres-storage-options.js';
import { Session } from './session.js';
import { newTableName, tableStatements } from './sql-row-statements.js';
import type { RowTable } from './sql-row-text.js';

/** The outcome of one step. `lost`: the tables can't be updated from the log and must be filled again. */
export interface ProjectionStep {
  readonly outcome: 'moved' | 'idle' | 'busy' | 'lost';
  /** Whether the log contains at least one more full step. */
  readonly isBehind: boolean;
}

const fillTimeoutMs = 3_600_000;
const stepTimeoutMs = 120_000;
/** Rows lag by at least the time that a step takes, so that steps are short. */
const changesPerStep = 500;
/** SQLSTATE: a view still reads the table; a transaction uses it. */
const stillNeeded: ReadonlySet<string> = new Set(['2BP01', '55P03']);

/**
 * Keeps the tables of rows that the views read from up to date with the log (`--sql-projection=tables`). All work is
 * done inside the database; the position is part of the same transaction as the rows, so a process that crashes in the
 * middle leaves nothing half done.
 */
export class SqlRowTables {
  private session: Session | undefined;

  constructor(private readonly databaseUrl: string) {}

  /**
   * Creates and fills the tables that are missing or have other columns, one after the other. Returns whether there
   * were any: the views must then be compared again.
   */
  async fill(tables: readonly RowTable[], signal: AbortSignal): Promise<boolean> {
    const session = await this.connected();
    const rows = await execute(session, 'select resource, digest from plinth.projected_tables');
    const filled = new Map(rows.map(([resource, digest]) => [resource, digest]));
    const seen = new Set<string>();
    let isChanged = false;
    for (const table of tables) {
      if (signal.aborted) break;
      if (filled.get(table.resource) === table.digest || seen.has(table.resource)) continue;
      seen.add(table.resource);
      await this.make(table);
      isChanged = true;
    }
    const wanted = new Set(tables.map(({ resource }) => resource));
    for (const resource of filled.keys()) {
      if (typeof resource !== 'string' || wanted.has(resource)) continue;
      await execute(session, `delete from plinth.projected_tables where resource = ${quoteText(resource)}`);
      isChanged = true;
    }
    return isChanged;
  }

  /** Applies the next changes of the log. */
  async step(): Promise<ProjectionStep> {
    const session = await this.connected();
    const sql = `select p.outcome, b.head - p.position >= ${changesPerStep}
      from plinth.project_changes(${changesPerStep}) p, plinth.log_bounds() b`;
    const [row] = await session.execute('project-changes', sql, stepTimeoutMs);
    const outcome = (row?.[0] ?? 'lost') as ProjectionStep['outcome'];
    // From now on no view uses these tables.
    if (outcome === 'lost') await execute(session, 'update plinth.projection set position = -1');
    return { outcome, isBehind: row?.[1] === 't' };
  }

  /** Removes the records of all tables; call it once no view reads the tables any more. */
  async forget(): Promise<void> {
    const session = await this.connected();
    await execute(session, 'begin; delete from plinth.projected_tables; delete from plinth.projection; commit');
  }

  async close(): Promise<void> {
    await this.session?.close();
    this.session = undefined;
  }

  private async make(table: RowTable): Promise<void> {
    const session = await this.connected();
    const name = newTableName(table, randomBytes(4).toString('hex'));
    // The rows and the version that they show must come from one snapshot.
    await execute(session, 'begin isolation level repeatable read');
    try {
      await execute(session, 'set local search_path = pg_catalog, pg_temp');
      await execute(session, `delete from plinth.projected_tables where resource = ${quoteText(table.resource)}`);
      for (const sql of tableStatements(table, name)) await execute(session, sql);
      await execute(session, 'commit');
    } catch (error) {
      if (!session.broken) await execute(session, 'rollback');
      throw error;
    }
  }

  private async connected(): Promise<Session> {
    if (this.session !== undefined && !this.session.broken) return this.session;
    this.session = await Session.open({
      url: this.databaseUrl,
      applicationName: 'plinth projection',
      connectTimeoutMs: 10_000,
      role: 'writer',
      observer: silentObserver,
    });
    return this.session;
  }
}

/** Drops tables of rows that are no longer recorded. A table that a view still reads stays until the next time. */
export async function dropTables(session: Session): Promise<void> {
  const rows = await execute(
    session,
    `select c.relname from pg_catalog.pg_class c
     where c.relnamespace = 'plinth'::regnamespace and c.relkind = 'r'
       and (c.relname like 'rows\\_%' or c.relname like 'parts\\_%')
       and not exists (select from plinth.projected_tables t where c.relname in (t.table_name, t.apart_table))`,
  );
  for (const [name] of rows) {
    try {
      await execute(
        session,
        `begin; set local lock_timeout = 500; drop table plinth.${quoteName(String(name))}; commit`,
      );
    } catch (error) {
      if (session.broken || !stillNeeded.has(sqlState(error) ?? '')) throw error;
      await execute(session, 'rollback');
    }
  }
}

function execute(session: Session, sql: string): ReturnType<Session['execute']> {
  return session.execute('sql-rows', sql, fillTimeoutMs);
}
