import { connect, type Socket } from 'node:net';
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
/** The role may do more than ask: nobody is to ask as that role. */
export class SqlRoleError extends SqlError {}

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
/** Of the protocol: the first message of a connection asks to cancel what another one does. */
const cancelCode = 80_877_102;
/**
 * Why a role must not be used: what it may become counts as well, since a question can change the role. Catalogs are open to
 * everybody.
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
   * Whether the role of the URL may ask.
   *
   * @throws SqlRoleError when it may do more than it should; SqlError when the database can't be asked
   */
  async check(): Promise<void> {
    await this.ask('select 1');
  }

  /**
   * @param values of the parameters `$1` and so on
   * @param signal whoever asks has gone
   *
   * @throws SqlError, SqlBusy
   */
  async ask(text: string, values: readonly string[] = [], signal?: AbortSignal): Promise<SqlAnswer> {
    if (this.asking >= mostAtOnce) throw new SqlBusy('others are asking already: try again');
    this.asking++;
    let isLate = false;
    const client = this.client();
    let late: ReturnType<typeof setTimeout> | undefined;
    const stop = () => abandon(client);
    try {
      await client.connect();
      limitReceived(client);
      // A question can take the limit of its own statements away.
      late = setTimeout(() => {
        isLate = true;
        stop();
      }, this.limits.timeoutMs + graceMs);
      signal?.addEventListener('abort', stop);
      await checkRole(client);
      signal?.throwIfAborted();
      return await this.read(client, text, values);
    } catch (error) {
      if (error instanceof SqlRoleError) throw error;
      throw new SqlError(isLate ? outOfTime : (error as Error).message, { cause: error });
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', stop);
      this.asking--;
      // A connection that is stuck is cut, whatever it says.
      void client.end().catch(() => {});
    }
  }

  private client(): pg.Client {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: connectMs,
      statement_timeout: this.limits.timeoutMs,
      idle_in_transaction_session_timeout: this.limits.timeoutMs + graceMs,
      application_name: 'plinth-console',
      // Numbers and times stay as the database writes them.
      types: { getTypeParser: () => (value: unknown) => String(value) },
    } as pg.ClientConfig);
    client.on('error', () => {});
    return client;
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
      if (performance.now() - began > this.limits.timeoutMs) throw new Error(outOfTime);
    }
  }
}

/** Ends a connection and what it asks: the database itself does not look whether anybody still listens. */
function abandon(client: pg.Client): void {
  const { connection, host, port, processID, secretKey } = client as unknown as {
    readonly connection: { readonly stream: Socket };
    readonly host: string;
    readonly port: number;
    readonly processID: number | null;
    readonly secretKey: number | null;
  };
  if (processID !== null && secretKey !== null) {
    // Without TLS: the number of a session that is about to end is no secret.
    const request = Buffer.alloc(16);
    request.writeInt32BE(request.length, 0);
    request.writeInt32BE(cancelCode, 4);
    request.writeInt32BE(processID, 8);
    request.writeInt32BE(secretKey, 12);
    const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    socket.on('error', () => {});
    socket.setTimeout(connectMs, () => socket.destroy());
    socket.end(request);
  }
  connection.stream.destroy();
}

async function checkRole(client: pg.Client): Promise<void> {
  const { rows } = await client.query<[string]>({ text: roleProblem, rowMode: 'array' });
  if (rows[0] === undefined) return;
  throw new SqlRoleError(
    `the role of the console ${rows[0][0]}: give it one that may read the views and no more (plinth_reader)`,
  );
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
