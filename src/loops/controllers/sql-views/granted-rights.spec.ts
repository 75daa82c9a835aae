import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type pg from 'pg';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { sqlProjectionMode } from '../../../base/config/sql-projection.js';
import { migrate } from '../../../storage/postgres/migrate.js';
import { readerFunctions, readerRole } from '../../../storage/postgres/reader-rights.js';
import { SqlRowTables } from '../../../storage/postgres/sql-row-tables.js';
import { rowsIn } from '../../../storage/postgres/sql-views.js';
import { syncViews, viewsOf } from './sync-views.js';
import { all, connect, quiet, suffix } from './testing/view-scene.js';

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres({ fsync: false });
});

after(() => postgres.stop());

/**
 * Every right that anybody but the owner has on anything in the schemas of the program, and on the schemas themselves.
 */
const rights = `
  with granted (kind, name, owner, acl) as (
    select 'schema', n.nspname::text, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner))
      from pg_namespace n where n.nspname in ('plinth', 'cluster')
    union all
    select 'function', p.oid::regprocedure::text, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
      from pg_proc p where p.pronamespace in ('plinth'::regnamespace, 'cluster'::regnamespace)
    union all
    select case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass::text, c.relowner,
        coalesce(c.relacl, acldefault((case c.relkind when 'S' then 's' else 'r' end)::"char", c.relowner))
      from pg_class c
      where c.relnamespace in ('plinth'::regnamespace, 'cluster'::regnamespace) and c.relkind not in ('i', 'I', 't')
    union all
    select 'column', format('%s.%s', c.oid::regclass, a.attname), c.relowner, a.attacl
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace in ('plinth'::regnamespace, 'cluster'::regnamespace) and a.attacl is not null
    union all
    select 'type', t.oid::regtype::text, t.typowner, coalesce(t.typacl, acldefault('T', t.typowner))
      from pg_type t
      -- The types of rows and of arrays have no rights of their own.
      where t.typnamespace in ('plinth'::regnamespace, 'cluster'::regnamespace) and t.typtype <> 'c' and t.typelem = 0
  )
  select format('%s: %s %s %s', coalesce(r.rolname, 'PUBLIC'), a.privilege_type, g.kind, g.name) as line
  from granted g cross join lateral aclexplode(g.acl) a left join pg_roles r on r.oid = a.grantee
  where a.grantee <> g.owner order by 1`;

async function rightsIn(client: pg.Client): Promise<string[]> {
  return (await client.query(rights)).rows.map(({ line }) => line as string);
}

/** The reader's rights; nobody else has any. */
async function expected(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(
    `select v.f::regprocedure::text as name from unnest($1::text[]) v (f)
     union all select 'SELECT view cluster.' || quote_ident(name) from plinth.sql_views`,
    [readerFunctions],
  );
  const lines = rows.map(({ name }) => (/^SELECT/.test(name as string) ? name : `EXECUTE function ${name}`) as string);
  lines.push('USAGE schema cluster', 'SELECT view cluster.audit');
  return lines.map((line) => `${readerRole}: ${line}`).sort();
}

it('the reader may read the views and call their functions, and nobody else may do anything', async () => {
  const url = await postgres.createTestDatabase();
  await migrate(url);
  const mode = sqlProjectionMode('indexed', []);
  const tables = new SqlRowTables(url);
  const owner = await connect(url);
  try {
    await syncViews(url, all, suffix, mode, quiet);
    const shapes = viewsOf(all, suffix).flatMap((form) => rowsIn(form, 'indexed') ?? []);
    assert.equal(await tables.fill(shapes, new AbortController().signal), true);
    await syncViews(url, all, suffix, mode, quiet);
    await owner.query(`select plinth.add_audit_partitions(current_date, current_date + 1);
      select plinth.add_change_partitions(3); select plinth.copy_to_history(0)`);
    const { rows } = await owner.query(
      `select count(*) filter (where relname like 'rows\\_%')::int as rows,
         count(*) filter (where relname like 'audit\\_2%')::int as audit from pg_class where relkind = 'r'`,
    );
    assert.ok(rows[0].rows >= all.length && rows[0].audit === 2, JSON.stringify(rows));
    assert.deepEqual((await rightsIn(owner)).sort(), await expected(owner));
  } finally {
    await tables.close();
    await owner.end();
  }
});

it('takes the rights that earlier releases gave to everybody, even when two processes start at once', async () => {
  const url = await postgres.createTestDatabase();
  await migrate(url);
  await syncViews(url, all, suffix, sqlProjectionMode('views', []), quiet);
  const owner = await connect(url);
  try {
    const wanted = await expected(owner);
    const names = readerFunctions.filter((name) => /past_|shown_|object_labels|field_manager|cluster\./.test(name));
    await owner.query(`grant execute on function ${names.join(', ')} to public;
      revoke execute on function ${names.join(', ')} from ${readerRole};
      update plinth.applied_texts set digest = 'of an earlier release' where name = 'secret_annotations'`);
    assert.ok((await rightsIn(owner)).some((line) => line.startsWith('PUBLIC: EXECUTE')));
    const results = await Promise.all([migrate(url), migrate(url), migrate(url)]);
    assert.deepEqual(
      results.flatMap(({ functions }) => functions),
      ['secret_annotations'],
    );
    // The reader has its rights at once, not only when the views are compared.
    assert.deepEqual((await rightsIn(owner)).sort(), wanted);
  } finally {
    await owner.end();
  }
});
