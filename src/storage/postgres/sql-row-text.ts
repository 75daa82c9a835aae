import { createHash } from 'node:crypto';
import { cutName, quoteName, quoteText } from './sql-text.js';

/** A column of a table of rows, besides those that every table has. */
export interface RowColumn {
  readonly name: string;
  readonly type: string;
  /** Of `o.object`, the visible part of the object, and `x.converted`, all of it. */
  readonly expression: string;
  /** How it is indexed, if it is. */
  readonly index?: 'btree' | 'gin' | 'set';
}

/** The table of rows of one resource. `digest` changes whenever its columns do. */
export interface RowTable {
  /** `resource` column of the stored objects. */
  readonly resource: string;
  /** Names the table for people. */
  readonly title: string;
  readonly columns: readonly RowColumn[];
  /** The visible part of `x.converted`. */
  readonly visible: string;
  readonly digest: string;
}

/** What a view shows beside its other columns, since people filter by it. */
const everyTable: readonly RowColumn[] = [
  {
    name: 'created_at',
    type: 'timestamptz',
    expression: "plinth.to_time(o.object #>> '{metadata,creationTimestamp}')",
  },
  {
    name: 'deleted_at',
    type: 'timestamptz',
    expression: "plinth.to_time(o.object #>> '{metadata,deletionTimestamp}')",
    index: 'set',
  },
  { name: 'labels', type: 'jsonb', expression: "o.object #> '{metadata,labels}'", index: 'gin' },
  // Text of an index entry has a limit; names of kinds and objects do not come near it, other texts might.
  { name: 'owner', type: 'text', expression: 'left(plinth.object_owner(o.object), 500)', index: 'btree' },
];

const phase: RowColumn = {
  name: 'phase',
  type: 'text',
  expression: "left(o.object #>> '{status,phase}', 200)",
  index: 'btree',
};

const podColumns: readonly RowColumn[] = [
  { name: 'node', type: 'text', expression: "left(o.object #>> '{spec,nodeName}', 500)", index: 'btree' },
  { name: 'images', type: 'text[]', expression: 'plinth.object_images(o.object)' },
];

const secretColumns: readonly RowColumn[] = [
  { name: 'type', type: 'text', expression: "left(o.object ->> 'type', 500)", index: 'btree' },
  { name: 'data_keys', type: 'text[]', expression: "plinth.json_keys(x.converted -> 'data')" },
];

/** Describes the table of a resource. */
export function rowTable(resource: string, title: string, hasStatus: boolean): RowTable {
  const columns = [
    ...everyTable,
    ...(hasStatus ? [phase] : []),
    ...(resource === 'pods' ? podColumns : []),
    ...(resource === 'secrets' ? secretColumns : []),
  ];
  const visible = resource === 'secrets' ? 'plinth.secret_object(x.converted)' : 'x.converted';
  // The number rises when the functions in the expressions show something else.
  const digest = createHash('sha256')
    .update(JSON.stringify([columns, visible, resource === 'secrets' ? 2 : 1]))
    .digest('hex');
  return { resource, title, columns, visible, digest };
}

/** The same columns for a view that reads the objects themselves, by name. */
export function shownColumns({ columns }: RowTable, fieldNames: ReadonlySet<string>): readonly RowColumn[] {
  const own = new Set(['created_at', 'deleted_at', 'labels', 'type', 'data_keys']);
  return columns.filter(({ name }) => !own.has(name) && !fieldNames.has(name));
}

/** A name for a table that is about to be made: no other has it, so that an older one can stay until nobody reads it. */
export function newTableName({ title }: RowTable, suffix: string): string {
  return `${cutName(`rows_${title}`.slice(0, 50))}_${suffix}`;
}

/**
 * The statements that make and fill a table, in one transaction at one version. Indexes come last, which is faster.
 *
 * @param name what {@link newTableName} gave
 */
export function tableStatements(table: RowTable, name: string): string[] {
  const { resource, columns, visible } = table;
  const at = `plinth.${quoteName(name)}`;
  const names = columns.map((column) => quoteName(column.name));
  return [
    `create table ${at} (
  namespace text collate "C" not null,
  name text collate "C" not null,
  uid text not null,
  resource_version bigint not null,
${columns.map((column) => `  ${quoteName(column.name)} ${column.type},\n`).join('')}  object jsonb
) with (
  fillfactor = 80,
  toast_tuple_target = 128,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1
)`,
    // Whole objects stand apart, so that scans of the other columns are short.
    `alter table ${at} ${columns
      .filter(({ type }) => type !== 'timestamptz')
      .map((column) => `alter column ${quoteName(column.name)} set storage main`)
      .join(', ')}`,
    `revoke all on ${at} from public`,
    `insert into ${at} (namespace, name, uid, resource_version, object${names.map((one) => `, ${one}`).join('')})
select s.namespace, s.name, s.uid, s.resource_version, o.object${columns.map((one) => `, ${one.expression}`).join('')}
from plinth.objects s
cross join lateral (select plinth.safe_jsonb(s.data) as converted offset 0) x
cross join lateral (
  select plinth.versioned_object(${visible}, s.resource_version) as object offset 0) o
where s.resource = ${quoteText(resource)}`,
    `alter table ${at} add primary key (namespace, name)`,
    ...columns.flatMap((column) => indexStatement(at, column)),
    `create index on ${at} using gin (object jsonb_path_ops)`,
    `analyze ${at}`,
    `insert into plinth.projected_tables (resource, table_name, digest, columns, expressions, visible, own_position)
select ${quoteText(resource)}, ${quoteText(name)}, ${quoteText(table.digest)},
  array[${columns.map((one) => quoteText(one.name)).join(', ')}]::text[],
  array[${columns.map((one) => quoteText(one.expression)).join(', ')}]::text[], ${quoteText(visible)}, b.head
from plinth.log_bounds() b`,
    `insert into plinth.projection (position, epoch) select b.head, e.epoch from plinth.log_bounds() b, plinth.epoch e
on conflict do nothing`,
  ];
}

function indexStatement(at: string, { name, index }: RowColumn): string[] {
  const column = quoteName(name);
  switch (index) {
    case undefined:
      return [];
    case 'gin':
      return [`create index on ${at} using gin (${column})`];
    case 'btree':
      return [`create index on ${at} (${column})`];
    case 'set':
      return [`create index on ${at} (${column}) where ${column} is not null`];
  }
}
