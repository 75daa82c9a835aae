import type { Socket } from 'node:net';
import pg from 'pg';

/** Rows as texts, as the database writes them; null is no value. */
export interface SqlAnswer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Whether there are more rows than are shown. */
  readonly isCut: boolean;
  readonly ms: number;
}

/** The database refuses the question; the message is its own. */
export class SqlError extends Error {}

/** Others are asking already. */
export class SqlBusy extends Error {}

export interface SqlLimits {
  readonly timeoutMs: number;
  readonly rows: number;
}

const mostAtOnce = 4;
const mostBytes = 8 * 1024 * 1024;
/** Of what comes from the database before it is looked at: a single value may have a gigabyte. */
const mostReceived = 4 * mostBytes;
const batch = 100;
const connectMs = 10_000;
/** After the limit of the statement, for an answer that it was reached. */
const graceMs = 2000;

/**
 * Asks a database questions that somebody typed. Each gets a connection of its own, so that settings that a question changes are
 * gone with it, and a transaction that may only read. The text becomes a cursor, which takes a query and nothing else, and goes
 * over the protocol that takes one statement only. What the role may see is for the database to say.
 */
export class SqlReader {
  private asking = 0;

  constructor(
    private readonly url: string,
    readonly limits: SqlLimits,
  ) {}

  /**
   * @param values of the parameters `$1` and so on
   *
   * @throws SqlError, SqlBusy
   */
  async ask(text: string, values: readonly string[] = []): Promise<SqlAnswer> {
    if (this.asking >= mostAtOnce) throw new SqlBusy('others are asking already: try again');
    this.asking++;
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: connectMs,
      statement_timeout: this.limits.timeoutMs,
      query_timeout: this.limits.timeoutMs + graceMs,
      idle_in_transaction_session_timeout: this.limits.timeoutMs + graceMs,
      application_name: 'plinth-console',
      // Numbers and times stay as the database writes them.
      types: { getTypeParser: () => (value: unknown) => String(value) },
    } as pg.ClientConfig);
    client.on('error', () => {});
    try {
      await client.connect();
      limitReceived(client);
      return await this.read(client, text, values);
    } catch (error) {
      throw new SqlError((error as Error).message, { cause: error });
    } finally {
      this.asking--;
      // A connection that is stuck is cut, whatever it says.
      void client.end().catch(() => {});
    }
  }

  private async read(client: pg.Client, text: string, values: readonly string[]): Promise<SqlAnswer> {
    const began = performance.now();
    await client.query('begin transaction read only');
    const question = text.trim().replace(/;\s*$/, '');
    // The line break ends a comment at the end.
    const cursor = `declare question no scroll cursor for ${question}\n`;
    await client.query({ text: cursor, values: [...values], queryMode: 'extended' } as pg.QueryConfig);
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
      if (performance.now() - began > this.limits.timeoutMs) throw new Error('the time for one question is over');
    }
  }
}

function limitReceived(client: pg.Client): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > mostReceived) stream.destroy(new Error(`the answer has more than ${mostReceived} bytes`));
  });
}

/** What happened to an object, the newest first (docs/history.md). */
export const timelineQuestion =
  'select version, at, verb, manager, username, diff from cluster.history($1, $2, $3) order by version desc';
