import { createHash } from 'node:crypto';
import pg from 'pg';
import type { History, LogEntry } from './history.js';
import type { Ledger } from './ledger.js';
import { infoOf } from './object-digest.js';
import type { Report } from './report.js';
import type { WatchCheck } from './watch-check.js';

interface Row {
  readonly v: string;
  readonly type: 0 | 1 | 2;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly data: string;
  readonly previous: string | null;
  readonly pv: string | null;
}

const types = ['create', 'update', 'delete'] as const;
const pageSize = 2000;
/** How far behind the newest version states are available. */
const remembered = 20_000;

/** A check that needs the log up to some point after it was made. `needs`: the oldest version that it looks at. */
export interface DueCheck {
  readonly needs: number;
  readonly run: () => void;
}

/**
 * Reads the log directly from the database, on a connection of its own that bypasses every server, and runs the checks
 * that wait for it. A check that was requested before a read began runs after that read.
 */
export class LogReader {
  private client: pg.Client | undefined;
  private due: DueCheck[] = [];
  private read = 0;
  /** One at a time: each read continues where the last one ended. */
  private refreshing: Promise<boolean> = Promise.resolve(true);
  private readonly rolling = createHash('sha1');

  constructor(
    private readonly databaseUrl: string,
    private readonly resources: readonly string[],
    private readonly history: History,
    private readonly ledger: Ledger,
    private readonly watches: readonly WatchCheck[],
    private readonly report: Report,
  ) {}

  /** Runs `run` once everything committed so far is applied. */
  later(needs: number, run: () => void): void {
    this.due.push({ needs, run });
  }

  /** How many checks wait. */
  get waiting(): number {
    return this.due.length;
  }

  /** Reads to the end of the log; false when the database can't be reached at the moment. */
  refresh(): Promise<boolean> {
    this.refreshing = this.refreshing.then(() => this.refreshOnce());
    return this.refreshing;
  }

  private async refreshOnce(): Promise<boolean> {
    const due = this.due;
    this.due = [];
    const received = this.watches.map((watch) => watch.backlog);
    try {
      await this.readToEnd();
    } catch {
      this.due = [...due, ...this.due];
      await this.close();
      return false;
    }
    this.watches.forEach((watch, index) => {
      watch.advance(received[index] as number);
    });
    for (const { run } of due) run();
    const needed = Math.min(...this.due.map(({ needs }) => needs), this.history.applied - remembered);
    this.history.prune(Math.min(this.history.end, ...this.watches.map((watch) => watch.next)), needed);
    return true;
  }

  /**
   * Reads the whole log once more. An entry that appeared in a part already read would show up as a difference:
   * versions would not have become visible in order.
   */
  async compareWithSecondReading(): Promise<void> {
    const client = await this.connection();
    const again = createHash('sha1');
    let after = 0;
    let count = 0;
    for (;;) {
      const { rows } = await client.query<{ v: string }>(
        // Entries copied to the history may have left the log.
        `select c.resource_version as v from plinth.changes c where c.resource_version > $1 and c.resource_version <= $2
         union
         select h.resource_version from plinth.history h where h.resource_version > $1 and h.resource_version <= $2
         order by 1 limit 50000`,
        [after, this.history.applied],
      );
      for (const { v } of rows) again.update(`${v},`);
      count += rows.length;
      if (rows.length === 0) break;
      after = Number(rows.at(-1)?.v);
    }
    const [first, second] = [this.rolling.copy().digest('hex'), again.digest('hex')];
    if (first === second) this.report.pass('log-order');
    else {
      const message = 'the log has entries that appeared behind later ones, or lost some';
      this.report.fail('log-order', message, { readAsItGrew: this.read, readAtTheEnd: count });
    }
  }

  async close(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connection(): Promise<pg.Client> {
    if (this.client !== undefined) return this.client;
    const client = new pg.Client({
      connectionString: this.databaseUrl,
      application_name: 'consistency check',
      connectionTimeoutMillis: 5_000,
      query_timeout: 30_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    this.client = client;
    return client;
  }

  private async readToEnd(): Promise<void> {
    const client = await this.connection();
    let isLast = false;
    while (!isLast) {
      await client.query('begin isolation level repeatable read read only');
      const bounds = await client.query<{ head: string }>('select head from plinth.log_bounds()');
      const { rows } = await client.query<Row>(
        `select c.resource_version as v, c.type, c.resource, c.namespace, c.name, c.data::text as data,
           coalesce(c.previous, b.data)::text as previous, c.previous_version as pv
         from plinth.changes c left join plinth.changes b on c.previous is null and b.resource_version = c.previous_version
         where c.resource_version > $1 order by c.resource_version limit ${pageSize}`,
        [this.history.applied],
      );
      await client.query('commit');
      for (const row of rows) this.take(row);
      isLast = rows.length < pageSize;
      if (isLast) this.history.reach(Number(bounds.rows[0]?.head ?? 0));
    }
  }

  private take(row: Row): void {
    this.rolling.update(`${row.v},`);
    this.read++;
    const version = Number(row.v);
    if (!this.resources.includes(row.resource)) {
      this.history.reach(version);
      return;
    }
    const entry: LogEntry = {
      version,
      type: types[row.type],
      resource: row.resource,
      namespace: row.namespace,
      name: row.name,
      after: infoOf(JSON.parse(row.data)),
      before: row.previous === null ? undefined : infoOf(JSON.parse(row.previous)),
      previousVersion: row.pv === null ? undefined : Number(row.pv),
    };
    this.history.apply(entry);
    this.ledger.observe(entry);
  }
}
