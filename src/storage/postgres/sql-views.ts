import { createHash } from 'node:crypto';
import type { SqlProjection, SqlProjectionMode } from '../../base/config/sql-projection.js';
import { sqlState } from '../../base/database/sql-state.js';
import { quoteName, quoteText } from '../../base/database/sql-text.js';
import { LOCK_MIGRATIONS } from './migrate.js';
import { MigrationError } from './migration-error.js';
import { openCommandSession } from './open-command-session.js';
import { readerFunctions, readerRole } from './reader-rights.js';
import { Session } from './session.js';
import { dropTables } from './sql-row-tables.js';
import type { RowTable } from './sql-row-text.js';
import type { SqlView, SqlViewForms } from './sql-view-text.js';

export interface SqlViewsResult {
  /** Names of views that were created or changed, and of dropped views whose resource is no longer served. */
  readonly changed: readonly string[];
  readonly dropped: readonly string[];
  /**
   * Views that could not be brought up to date, because other objects depend on them or hold their name, or a
   * transaction reads them.
   */
  readonly kept: readonly { readonly name: string; readonly reason: string }[];
  /** `missing`: the role does not exist and the database role of this process may not create it. */
  readonly reader: 'ready' | 'missing';
}

const timeoutMs = 600_000;
const viewLockTimeoutMs = 500;
/** SQLSTATE: the columns differ; another object depends on the view; a transaction uses it; the name is taken. */
const differentColumns = '42P16';
const dependentObjects = '2BP01';
const inUse = '55P03';
const nameTaken = ['42P07', '42710', '42809'];

/**
 * Makes schema `cluster` consist of exactly these views and the objects that others created there, readable by the
 * reader role. Needs one read when nothing has changed. Several processes may call it at once: they take turns under
 * the lock of migrations.
 *
 * If other objects depend on a view, it is only ever extended by columns. If that is not enough, it is kept and
 * reported.
 *
 * @throws MigrationError when the database can't be reached or refuses.
 */
export async function syncSqlViews(
  databaseUrl: string,
  forms: readonly SqlViewForms[],
  mode: SqlProjectionMode,
): Promise<SqlViewsResult> {
  let session: Session | undefined;
  try {
    session = await openCommandSession(databaseUrl, 'plinth views');
    const tables = await readTables(session);
    const views = chosenViews(forms, tables, mode);
    const digest = digestOf(views);
    const ready = await isUpToDate(session, digest);
    if (ready !== undefined) return { changed: [], dropped: [], kept: [], reader: ready };
    await execute(session, 'begin');
    await execute(session, LOCK_MIGRATIONS);
    // A view can't be replaced while a long transaction reads it.
    await execute(session, `set local lock_timeout = ${viewLockTimeoutMs}`);
    // Names in the definitions must mean the built-in functions, whatever the role's `search_path`.
    await execute(session, 'set local search_path = pg_catalog, pg_temp');
    const result = await applyViews(session, views, digest);
    await execute(session, 'commit');
    await dropTables(session);
    return result;
  } catch (error) {
    const state = sqlState(error);
    const reason = error instanceof Error ? error.message : String(error);
    const code = state === undefined ? '' : ` (SQLSTATE ${state})`;
    throw new MigrationError(`the SQL views can't be brought up to date${code}: ${reason}`, { cause: error });
  } finally {
    await session?.close();
  }
}

function digestOf(views: readonly SqlView[]): string {
  const hash = createHash('sha256');
  const line = (view: SqlView) => `${view.name} ${view.storageResource} ${view.digest}\n`;
  for (const one of views.map(line).sort()) hash.update(one);
  hash.update(readerFunctions.join('\n'));
  return hash.digest('hex');
}

/** State of the reader role if everything is up to date, otherwise undefined. */
async function isUpToDate(session: Session, digest: string): Promise<SqlViewsResult['reader'] | undefined> {
  const [row] = await execute(
    session,
    `select s.digest, r.oid, s.reader is not distinct from r.oid, (c.rolsuper or c.rolcreaterole),
       exists (select from plinth.sql_views v where to_regclass(format('cluster.%I', v.name)) is null)
     from plinth.sql_views_state s
     left join pg_catalog.pg_roles r on r.rolname = ${quoteText(readerRole)}
     left join pg_catalog.pg_roles c on c.rolname = current_user`,
  );
  if (row === undefined || row[0] !== digest || row[2] !== 't' || row[4] === 't') return undefined;
  if (row[1] !== null) return 'ready';
  return row[3] === 't' ? undefined : 'missing';
}

async function applyViews(session: Session, views: readonly SqlView[], digest: string): Promise<SqlViewsResult> {
  await execute(session, "delete from plinth.sql_views where to_regclass(format('cluster.%I', name)) is null");
  const rows = await execute(session, 'select name, digest, resource from plinth.sql_views');
  const known = new Map(rows.map(([name, digest, resource]) => [name as string, { digest, resource }]));
  const changed: string[] = [];
  const dropped: string[] = [];
  const kept: { name: string; reason: string }[] = [];
  /** Views that keep a name which now belongs to another resource. */
  const ofOthers = new Set<string>();

  const wanted = new Set(views.map((view) => view.name));
  for (const name of known.keys()) {
    if (wanted.has(name)) continue;
    const failure = await attempt(session, `drop view if exists cluster.${quoteName(name)}`);
    if (failure !== undefined) {
      kept.push({ name, reason: failure.message });
      continue;
    }
    await execute(session, `delete from plinth.sql_views where name = ${quoteText(name)}`);
    dropped.push(name);
  }
  for (const view of views) {
    const present = known.get(view.name);
    // A role may be allowed to read only some views: if a view's name passes to another resource, no rights are carried
    // over.
    const isOther = present !== undefined && (present.resource ?? view.storageResource) !== view.storageResource;
    if (present?.digest === view.digest && !isOther) continue;
    const failure = await makeView(session, view, isOther ? 'other' : present === undefined ? 'none' : 'same');
    if (failure !== undefined) {
      kept.push({ name: view.name, reason: failure.message });
      if (isOther) ofOthers.add(view.name);
      continue;
    }
    await execute(
      session,
      `insert into plinth.sql_views (name, digest) values (${quoteText(view.name)}, ${quoteText(view.digest)})
       on conflict (name) do update set digest = excluded.digest`,
    );
    changed.push(view.name);
  }

  await recordResources(
    session,
    views.filter(({ name }) => !ofOthers.has(name)),
  );
  const reader = await ensureReader(session);
  // The next start tries the kept views again.
  const recorded = kept.length === 0 ? digest : '';
  await execute(
    session,
    `update plinth.sql_views_state set digest = ${quoteText(recorded)},
       reader = (select r.oid from pg_roles r where r.rolname = ${quoteText(readerRole)})`,
  );
  return { changed, dropped, kept, reader };
}

/** Records what each view shows: the functions of the history know the readers of a resource by its views. */
async function recordResources(session: Session, views: readonly SqlView[]): Promise<void> {
  if (views.length === 0) return;
  const pairs = views.map((view) => `(${quoteText(view.name)}, ${quoteText(view.storageResource)})`);
  await execute(
    session,
    `update plinth.sql_views v set resource = p.resource from (values ${pairs.join(', ')}) p (name, resource)
     where v.name = p.name and v.resource is distinct from p.resource`,
  );
}

/**
 * @param present the object that has the name now: no view of this program, a view of the same resource, or one of
 * another resource
 */
async function makeView(
  session: Session,
  view: SqlView,
  present: 'none' | 'same' | 'other',
): Promise<Error | undefined> {
  const name = `cluster.${quoteName(view.name)}`;
  // Without the barrier a reader's own function in WHERE would be called with rows of every resource.
  const definition = `view ${name} with (security_barrier = ${view.needsBarrier}) as ${view.query}`;
  const comment = `comment on view ${name} is ${quoteText(view.comment)}`;
  if (present === 'none') return attempt(session, `create ${definition}; ${comment}`);
  const anew = `drop view if exists ${name}; create ${definition}; ${comment}`;
  if (present === 'other') return attempt(session, anew);
  const failure = await attempt(session, `create or replace ${definition}; ${comment}`);
  if (failure === undefined || sqlState(failure) !== differentColumns) return failure;
  return attempt(session, anew);
}

/** Creates the role if that is allowed, and grants it the rights on all views of this program. */
async function ensureReader(session: Session): Promise<SqlViewsResult['reader']> {
  // Roles belong to the whole server: a process in another of its databases may be making the same one right now.
  await execute(
    session,
    `do $$ begin
       if not exists (select from pg_roles where rolname = ${quoteText(readerRole)})
         and (select rolsuper or rolcreaterole from pg_roles where rolname = current_user) then
         begin
           create role ${quoteName(readerRole)} nologin;
         exception when duplicate_object or unique_violation then null;
         end;
       end if;
     end $$`,
  );
  const [row] = await execute(session, `select from pg_roles where rolname = ${quoteText(readerRole)}`);
  if (row === undefined) return 'missing';
  const reader = quoteName(readerRole);
  const views = await execute(session, 'select name from plinth.sql_views order by name');
  // A role that does not own the functions leaves the grants on them to the role that does.
  const functions = await execute(
    session,
    `select f from unnest(array[${readerFunctions.map(quoteText).join(', ')}]) f
     where has_function_privilege(f, 'execute with grant option')`,
  );
  const grants = [
    `grant usage on schema cluster to ${reader}`,
    ...views.map(([name]) => `grant select on cluster.${quoteName(name as string)} to ${reader}`),
    // A migration makes this view, so it is not among the views of the kinds.
    `grant select on cluster.audit to ${reader}`,
    ...functions.map(([signature]) => `grant execute on function ${signature as string} to ${reader}`),
  ];
  await execute(session, grants.join('; '));
  return 'ready';
}

/** A table of rows that can be read. */
interface ReadableTable {
  readonly name: string;
  readonly digest: string;
}

async function readTables(session: Session): Promise<ReadonlyMap<string, ReadableTable>> {
  const rows = await execute(
    session,
    `select t.resource, t.table_name, t.digest from plinth.projected_tables t, plinth.projection p where p.position >= 0`,
  );
  return new Map(rows.map(([resource, name, digest]) => [resource as string, { name, digest } as ReadableTable]));
}

/** The requested form of each view, if possible: over rows only where a table of this shape has been filled. */
function chosenViews(
  forms: readonly SqlViewForms[],
  tables: ReadonlyMap<string, ReadableTable>,
  mode: SqlProjectionMode,
): SqlView[] {
  return forms.flatMap((form) => {
    const own = mode.of(form.storageResource);
    if (own === 'off') return [];
    const rows = rowsIn(form, own);
    const table = tables.get(form.storageResource);
    return [rows !== undefined && table?.digest === rows.digest ? form.ofRows(rows, table.name) : form.ofObjects];
  });
}

/** The table of rows that a mode needs, if any. */
export function rowsIn(form: SqlViewForms, mode: SqlProjection): RowTable | undefined {
  if (mode === 'indexed') return form.indexedRows;
  return mode === 'tables' ? form.rows : undefined;
}

/**
 * Runs SQL that may be refused because of objects that others created, and returns that error; every other error is
 * thrown.
 */
async function attempt(session: Session, sql: string): Promise<Error | undefined> {
  await execute(session, 'savepoint before_view');
  try {
    await execute(session, sql);
    await execute(session, 'release savepoint before_view');
    return undefined;
  } catch (error) {
    const expected = [differentColumns, dependentObjects, inUse, ...nameTaken];
    if (!(error instanceof Error) || !expected.includes(sqlState(error) ?? '')) throw error;
    await execute(session, 'rollback to savepoint before_view');
    return error;
  }
}

function execute(session: Session, sql: string): ReturnType<Session['execute']> {
  return session.execute('sync-views', sql, timeoutMs);
}
