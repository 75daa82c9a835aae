import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';

/** A statement with its values. Values are never part of the text. */
export interface HistoryQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface AsOfFilter {
  readonly resource: string;
  readonly moment: string;
  readonly namespace?: string | undefined;
  /** Labels that the objects had. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly limit: number;
}

export interface HistoryFilter {
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly verb?: string | undefined;
  readonly manager?: string | undefined;
  readonly user?: string | undefined;
  readonly limit: number;
}

export interface DiffFilter {
  readonly from: string;
  readonly to: string;
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly verb?: string | undefined;
  readonly manager?: string | undefined;
  readonly limit: number;
}

interface ObjectRow {
  readonly namespace: string | null;
  readonly name: string;
  readonly resource_version: string;
  readonly labels: unknown;
  readonly object: unknown;
}

interface ChangeRow {
  readonly version: string;
  readonly at: string;
  readonly verb: string;
  readonly manager: string | null;
  readonly username: string | null;
  readonly diff: unknown;
  readonly object: unknown;
}

interface NetChangeRow extends Omit<ChangeRow, 'username' | 'object'> {
  readonly resource: string;
  readonly namespace: string | null;
  readonly name: string;
  readonly changes: string;
}

/** Only builds statements; a {@link Session} runs them. */
const builder = new Kysely<object>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

const seconds = sql<string>`to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`.as('at');

/** Builds the query for objects as they were; columns `namespace`, `name`, `resource_version`, `labels`, `object`. */
export function asOfQuery({ resource, moment, namespace, labels, limit }: AsOfFilter): HistoryQuery {
  const having = labels === undefined ? null : JSON.stringify(labels);
  const rows: RawBuilder<ObjectRow> = sql`cluster.as_of(${resource}::text, ${moment}::text, ${namespace ?? null}::text, null, ${having}::jsonb)`;
  const query = builder
    .selectFrom(rows.as('o'))
    .select(['o.namespace', 'o.name', 'o.resource_version', 'o.labels', 'o.object']);
  return statement(query.orderBy('o.namespace').orderBy('o.name').limit(limit));
}

/**
 * Builds the query for changes of one object, the newest first; columns `version`, `at`, `verb`, `manager`, `username`,
 * `diff`, `object`.
 */
export function historyQuery({ resource, namespace, name, verb, manager, user, limit }: HistoryFilter): HistoryQuery {
  const rows: RawBuilder<ChangeRow> = sql`cluster.history(${resource}::text, ${namespace ?? ''}::text, ${name}::text)`;
  let query = builder
    .selectFrom(rows.as('h'))
    .select(['h.version', seconds, 'h.verb', 'h.manager', 'h.username', 'h.diff', 'h.object']);
  if (verb !== undefined) query = query.where('h.verb', '=', verb);
  if (manager !== undefined) query = query.where('h.manager', '=', manager);
  if (user !== undefined) query = query.where('h.username', '=', user);
  return statement(query.orderBy('h.version', 'desc').limit(limit));
}

/**
 * Builds the query for differences between two moments, the newest first; columns `resource`, `namespace`, `name`,
 * `verb`, `changes`, `version`, `at`, `manager`, `diff`.
 */
export function diffQuery({ from, to, resource, namespace, verb, manager, limit }: DiffFilter): HistoryQuery {
  const rows: RawBuilder<NetChangeRow> = sql`cluster.changes_between(${from}::text, ${to}::text, ${resource ?? null}::text, ${namespace ?? null}::text)`;
  let query = builder
    .selectFrom(rows.as('c'))
    .select([
      'c.resource',
      'c.namespace',
      'c.name',
      'c.verb',
      'c.changes',
      'c.version',
      seconds,
      'c.manager',
      'c.diff',
    ]);
  if (verb !== undefined) query = query.where('c.verb', '=', verb);
  if (manager !== undefined) query = query.where('c.manager', '=', manager);
  return statement(query.orderBy('c.version', 'desc').limit(limit));
}

function statement(query: {
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] };
}): HistoryQuery {
  const { sql: text, parameters } = query.compile();
  return { text, values: parameters };
}
