import { cutName, quoteName, quoteText } from '../../base/database/sql-text.js';
import { quietRule } from './quiet-update.js';
import type { RowColumn, RowTable } from './sql-row-text.js';

/** A name for a table that is about to be created. It is unique, so an older table can stay until no view reads it. */
export function newTableName({ title }: RowTable, suffix: string): string {
  return `${cutName(`rows_${title}`.slice(0, 50))}_${suffix}`;
}

/** The name of the table of a column that stands apart. */
export function apartTableName(name: string): string {
  return name.replace(/^rows_/, 'parts_');
}

/**
 * The statements that create and fill a table, in one transaction at one version. Indexes come last, which is faster.
 *
 * @param name the result of {@link newTableName}
 */
export function tableStatements(table: RowTable, name: string): string[] {
  const { resource, columns, apart, visible, stored, shown, isIndexed } = table;
  const at = `plinth.${quoteName(name)}`;
  const names = columns.map((column) => quoteName(column.name));
  const kept = columns.filter(({ type }) => type !== 'timestamptz');
  const version = shown === 'r.object' ? 's.resource_version' : 'null';
  const list = (texts: readonly string[]) => `array[${texts.map(quoteText).join(', ')}]::text[]`;
  const apartName = apart === undefined ? undefined : apartTableName(name);
  const apartValues = [apartName, apart?.name, apart?.expression].map((one) =>
    one === undefined ? 'null' : quoteText(one),
  );
  return [
    `create table ${at} (
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  resource_version bigint not null,
${columns.map((column) => `  ${quoteName(column.name)} ${column.type},\n`).join('')}  object jsonb
) with (
  fillfactor = 70,
  toast_tuple_target = 512,
${upkeep}
)`,
    // Whole objects and specs are stored out of line, so that scans of the other columns are short.
    `alter table ${at} ${columns
      .filter((column) => column.type !== 'timestamptz' && column.index !== 'paths')
      .map((column) => `alter column ${quoteName(column.name)} set storage main`)
      .join(', ')}`,
    compression(at, ['object', ...columns.filter(({ index }) => index === 'paths').map(({ name }) => name)], 'object'),
    `revoke all on ${at} from public`,
    `insert into ${at} (namespace, name, uid, resource_version, object${names.map((one) => `, ${one}`).join('')})
select s.namespace, s.name, s.uid, s.resource_version, ${stored}${columns.map((one) => `, ${one.expression}`).join('')}
${fromObjects(table, version)}`,
    `alter table ${at} add primary key (namespace, name)`,
    ...indexStatements(at, columns),
    ...(isIndexed ? [`create index on ${at} using gin (object jsonb_path_ops)`] : []),
    `analyze ${at}`,
    ...(apart === undefined ? [] : apartStatements(table, apart, `plinth.${quoteName(apartTableName(name))}`)),
    `insert into plinth.projected_tables
  (resource, table_name, digest, columns, expressions, kept, visible, stored, shown, quiet, own_position,
  apart_table, apart_column, apart_expression)
select ${quoteText(resource)}, ${quoteText(name)}, ${quoteText(table.digest)}, ${list(columns.map((one) => one.name))},
  ${list(columns.map((one) => one.expression))}, ${list(kept.map((one) => one.name))}, ${quoteText(visible)},
  ${quoteText(stored)}, ${quoteText(shown ?? 'r.object')}, ${shown === undefined ? quietRule : 'null'}, b.head,
  ${apartValues.join(', ')}
from plinth.log_bounds() b`,
    `insert into plinth.projection (position, epoch) select b.head, e.epoch from plinth.log_bounds() b, plinth.epoch e
on conflict do nothing`,
  ];
}

const upkeep = `  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1`;

function fromObjects({ resource, visible }: RowTable, version: string): string {
  return `from plinth.objects s
cross join lateral (select s.data::text as data offset 0) t
cross join lateral (select plinth.safe_row_object(t.data, ${version}) as converted offset 0) x
cross join lateral (select ${visible} as object offset 0) o
where s.resource = ${quoteText(resource)}`;
}

/** Sets the compression of columns. The older one takes longer than all other work on the object, so then `large` has none. */
function compression(at: string, columns: readonly string[], large: string): string {
  return `do $$ begin
  alter table ${at} ${columns.map((one) => `alter column ${one} set compression lz4`).join(', ')};
exception when feature_not_supported or invalid_parameter_value then
  alter table ${at} alter column ${large} set storage external;
end $$`;
}

function apartStatements(table: RowTable, apart: RowColumn, at: string): string[] {
  const column = quoteName(apart.name);
  return [
    `create table ${at} (
  namespace text collate "C" not null,
  name text collate "C" not null,
  ${column} ${apart.type}
) with (
  fillfactor = 80,
  toast_tuple_target = 512,
${upkeep}
)`,
    // Beside the key: nothing else is read from this table, and a value out of line costs a row and an index entry more.
    `alter table ${at} alter column ${column} set storage main`,
    compression(at, [column], column),
    `revoke all on ${at} from public`,
    `insert into ${at} (namespace, name, ${column}) select s.namespace, s.name, ${apart.expression}
${fromObjects(table, 'null')}`,
    `alter table ${at} add primary key (namespace, name)`,
    ...indexStatements(at, [apart]),
    `analyze ${at}`,
  ];
}

function indexStatements(at: string, columns: readonly RowColumn[]): string[] {
  const shared = columns.filter(({ index }) => index === 'shared').map(({ name }) => quoteName(name));
  const own = columns.flatMap((column) => ownIndex(column) ?? []);
  if (shared.length > 0) own.push(`using gin (${shared.join(', ')})`);
  return own.map((index) => `create index on ${at} ${index}`);
}

function ownIndex({ name, index }: RowColumn): string | undefined {
  const column = quoteName(name);
  switch (index) {
    case 'paths':
      return `using gin (${column} jsonb_path_ops)`;
    case 'btree':
      return `(${column})`;
    case 'set':
      return `(${column}) where ${column} is not null`;
    case 'some':
      return `using gin (${column}) where ${column} is not null`;
    case 'shared':
    case undefined:
      return undefined;
  }
}
