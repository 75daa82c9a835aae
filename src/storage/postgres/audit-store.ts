import { sqlState } from '../../base/database/sql-state.js';
import { StorageError } from '../storage-error.js';
import { silentObserver } from './postgres-storage-options.js';
import { Session, type Statement } from './session.js';

const connectTimeoutMs = 10_000;
const statementTimeoutMs = 60_000;
const serverLimitMs = 55_000;
/** SQLSTATE of a failed check, such as a row without a partition. */
const checkViolation = '23514';
/** Partitions are created this many days ahead, in case the next round is late. */
const daysAhead = 2;
const dayMs = 86_400_000;

const columns = [
  'at timestamptz',
  'received_at timestamptz',
  'audit_id text',
  'level text',
  'stage text',
  'verb text',
  'request_uri text',
  'code integer',
  'reason text',
  'username text',
  'user_uid text',
  'groups text[]',
  'impersonated_user text',
  'impersonated_groups text[]',
  'source_ips inet[]',
  'user_agent text',
  'api_group text',
  'api_version text',
  'resource text',
  'subresource text',
  'namespace text',
  'name text',
  'annotations jsonb',
  'resource_versions bigint[]',
  'event json',
] as const;

const names = columns.map((column) => column.split(' ')[0]).join(', ');

const INSERT: Statement = {
  name: 'insert_audit',
  text: `insert into plinth.audit_events (${names}) select ${names} from json_to_recordset($1::json) as r(${columns.join(', ')})`,
};
const ADD: Statement = {
  name: 'add_audit_partitions',
  text: 'select plinth.add_audit_partitions($1::date, $2::date)',
};
const DROP: Statement = {
  name: 'drop_audit_partitions',
  text: 'select plinth.drop_audit_partitions($1::date)',
};

/** Whether another attempt can succeed: the database is down, busy or in a wrong state, and did not refuse the rows. */
export function isPassing(error: unknown): boolean {
  const state = sqlState(error);
  // Classes 22 and 23: wrong data, a violated constraint. A missing or forbidden table becomes usable when an operator
  // repairs it.
  return state === undefined || !/^(?:22|23)/.test(state);
}

/**
 * Stores audit events in the database, on one connection of its own, which is opened on first use. The store waits for
 * the database no longer than its time limits, and never for anything that the API waits for.
 */
export class AuditStore {
  private session: Session | undefined;
  private opening: Promise<Session> | undefined;
  private readonly stopping = new AbortController();

  constructor(private readonly databaseUrl: string) {}

  /**
   * Adds events, all or none.
   *
   * @param rows a JSON list of objects with the columns of the table
   * @param days first and last day of their times
   * @throws the error of the driver; {@link isPassing} classifies it.
   */
  async insert(rows: string, days: readonly [Date, Date]): Promise<void> {
    const session = await this.connected();
    try {
      await session.run(INSERT, [rows], statementTimeoutMs);
    } catch (error) {
      if (sqlState(error) !== checkViolation) throw error;
      await this.addDays(session, days);
      await session.run(INSERT, [rows], statementTimeoutMs);
    }
  }

  /**
   * Creates the partitions of the coming days, and drops those that are older than the retention (milliseconds; 0: keep
   * all). Returns how many were dropped.
   */
  async keep(now: number, retentionMs: number): Promise<number> {
    const session = await this.connected();
    await this.addDays(session, [new Date(now - dayMs), new Date(now + daysAhead * dayMs)]);
    if (retentionMs === 0) return 0;
    const [row] = await session.run(DROP, [dayOf(new Date(now - retentionMs))], statementTimeoutMs);
    return Number(row?.[0] ?? 0);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.session?.close();
  }

  private async addDays(session: Session, [first, last]: readonly [Date, Date]): Promise<void> {
    await session.run(ADD, [dayOf(first), dayOf(last)], statementTimeoutMs);
  }

  private async connected(): Promise<Session> {
    if (this.stopping.signal.aborted) throw new StorageError('Closed', 'the audit trail is shutting down');
    if (this.session !== undefined && !this.session.broken) return this.session;
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async open(): Promise<Session> {
    this.session = await Session.open({
      url: this.databaseUrl,
      applicationName: 'plinth audit',
      connectTimeoutMs,
      role: 'writer',
      observer: silentObserver,
      signal: this.stopping.signal,
      limits: { lockMs: serverLimitMs, statementMs: serverLimitMs },
    });
    return this.session;
  }
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}
