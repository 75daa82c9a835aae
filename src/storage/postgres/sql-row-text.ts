import { createHash } from 'node:crypto';
import { cutName, quoteName, quoteText } from '../../base/database/sql-text.js';
import { quietRule } from './quiet-update.js';

/** A column of a table of rows, besides those that every table has. */
export interface RowColumn {
  readonly name: string;
  readonly type: string;
  /** SQL over `o.object`, the visible part of the object, and `x.converted`, all of it. */
  readonly expression: string;
  /** The kind of index, if any. `paths`: only for `@>`. */
  readonly index?: 'btree' | 'gin' | 'paths' | 'set';
  /** The field of the object that views show from this column. */
  readonly field?: string;
}

/** The table of rows of one resource. `digest` changes whenever its columns do. */
export interface RowTable {
  /** `resource` column of the stored objects. */
  readonly resource: string;
  /** The readable part of the table's name. */
  readonly title: string;
  readonly columns: readonly RowColumn[];
  /** The visible part of `x.converted`. */
  readonly visible: string;
  /** SQL for the part of `o.object` that the column `object` stores. */
  readonly stored: string;
  /**
   * SQL for the whole object of a row `r`. Undefined where rows have none: then views read the stored objects for
   * everything that has no column.
   */
  readonly shown: string | undefined;
  /** Whether `object` is indexed. */
  readonly isIndexed: boolean;
  readonly digest: string;
}

/** The properties of a kind that its rows depend on. */
export interface RowShape {
  readonly hasStatus: boolean;
  /** Whether there is a field `spec`. */
  readonly hasSpec: boolean;
  /** Whether an index serves conditions on any part of the object, which makes writes expensive. */
  readonly isIndexed: boolean;
  /** Whether objects may contain JSON that jsonb can't hold. */
  readonly holdsAnyJson: boolean;
}

/** Columns that every view has besides those of its kind, because people filter by them. */
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
  // An index entry has a size limit; names of kinds and objects do not come near it, other texts might.
  { name: 'owner', type: 'text', expression: 'left(plinth.object_owner(o.object), 500)', index: 'btree' },
];

const phase: RowColumn = {
  name: 'phase',
  type: 'text',
  expression: "left(o.object #>> '{status,phase}', 200)",
  index: 'btree',
};

/** Inlined into the statement: calling a function with a query inside takes longer than the query itself. */
const images = `(select array_agg(distinct left(i #>> '{}', 600) order by left(i #>> '{}', 600))
    from jsonb_path_query(o.object, '$.spec.*[*].image') i)`;

/** The reason for the state of a pod and its containers (`Evicted`, `CrashLoopBackOff`); a running pod has none. */
const reasons = `case when jsonb_path_exists(o.object, '$.status.*[*].state.*.reason')
    or o.object #> '{status,reason}' is not null then plinth.object_reasons(o.object) end`;

const podColumns: readonly RowColumn[] = [
  { name: 'node', type: 'text', expression: "left(o.object #>> '{spec,nodeName}', 500)", index: 'btree' },
  { name: 'images', type: 'text[]', expression: images, index: 'gin' },
  { name: 'reasons', type: 'text[]', expression: reasons, index: 'gin' },
];

const secretColumns: readonly RowColumn[] = [
  { name: 'type', type: 'text', expression: "left(o.object ->> 'type', 500)", index: 'btree', field: 'type' },
  { name: 'data_keys', type: 'text[]', expression: "plinth.json_keys(x.converted -> 'data')" },
];

const eventColumns: readonly RowColumn[] = [
  { name: 'type', type: 'text', expression: "left(o.object ->> 'type', 500)", index: 'btree', field: 'type' },
  { name: 'reason', type: 'text', expression: "left(o.object ->> 'reason', 500)", field: 'reason' },
  {
    name: 'last_timestamp',
    type: 'timestamptz',
    expression: "plinth.to_time(o.object ->> 'lastTimestamp')",
    field: 'lastTimestamp',
  },
];

/** The part of an object that seldom changes: an update that leaves this part unchanged does not touch its index. */
const spec: RowColumn = {
  name: 'spec',
  type: 'jsonb',
  expression: "o.object -> 'spec'",
  index: 'paths',
  field: 'spec',
};

/** Resources whose objects change constantly in all their parts. */
const restless: ReadonlySet<string> = new Set(['events', 'leases', 'endpoints', 'endpointslices']);

const wholeObject = { stored: 'o.object', shown: 'r.object' };
const splitObject = {
  stored: "o.object - 'spec'",
  shown: 'plinth.whole_object(r.object, r.spec, r.resource_version)',
};

/**
 * PostgreSQL stores nothing out of line while the row is below 2 KB. This makes the row longer until it is compressed, to
 * some twenty bytes.
 */
const filler = `${quoteText(`"${' '.repeat(2_000)}"`)}::jsonb`;

/** Describes the table of a resource. */
export function rowTable(resource: string, title: string, shape: RowShape): RowTable {
  const isRestless = restless.has(resource.split('.', 1)[0] ?? '');
  const isSplit = shape.hasSpec && !shape.isIndexed && !isRestless;
  const isLight = !shape.isIndexed && !shape.holdsAnyJson && (isRestless || resource === 'pods');
  const columns = [
    ...everyTable,
    ...(shape.hasStatus ? [phase] : []),
    ...(resource === 'pods' ? podColumns : []),
    ...(resource === 'secrets' ? secretColumns : []),
    ...(resource === 'events' ? eventColumns : []),
    ...(isSplit ? [spec] : []),
  ];
  const text = {
    visible: resource === 'secrets' ? 'plinth.secret_object(x.converted)' : 'x.converted',
    ...(isLight ? { stored: isSplit ? filler : 'null::jsonb', shown: undefined } : isSplit ? splitObject : wholeObject),
    isIndexed: shape.isIndexed || !(isSplit || isRestless),
  };
  // Raise the number when the functions in the expressions return something else.
  const digest = createHash('sha256')
    .update(JSON.stringify([columns, text, 3]))
    .digest('hex');
  return { resource, title, columns, ...text, digest };
}

/** The columns of the table, by name, for a view that reads the objects themselves. */
export function shownColumns({ columns }: RowTable, fieldNames: ReadonlySet<string>): readonly RowColumn[] {
  const own = new Set(['created_at', 'deleted_at', 'labels', 'data_keys']);
  return columns.filter(({ name, field }) => field === undefined && !own.has(name) && !fieldNames.has(name));
}

/** A name for a table that is about to be created. It is unique, so an older table can stay until no view reads it. */
export function newTableName({ title }: RowTable, suffix: string): string {
  return `${cutName(`rows_${title}`.slice(0, 50))}_${suffix}`;
}

/**
 * The statements that create and fill a table, in one transaction at one version. Indexes come last, which is faster.
 *
 * @param name the result of {@link newTableName}
 */
export function tableStatements(table: RowTable, name: string): string[] {
  const { resource, columns, visible, stored, shown, isIndexed } = table;
  const at = `plinth.${quoteName(name)}`;
  const names = columns.map((column) => quoteName(column.name));
  const kept = columns.filter(({ type }) => type !== 'timestamptz');
  const version = (row: string) => (shown === 'r.object' ? `${row}.resource_version` : 'null');
  const list = (texts: readonly string[]) => `array[${texts.map(quoteText).join(', ')}]::text[]`;
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
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 1
)`,
    // Whole objects and specs are stored out of line, so that scans of the other columns are short.
    `alter table ${at} ${columns
      .filter((column) => column.type !== 'timestamptz' && column !== spec)
      .map((column) => `alter column ${quoteName(column.name)} set storage main`)
      .join(', ')}`,
    // The older compression takes longer than all other work on the object.
    `do $$ begin
  alter table ${at} alter column object set compression lz4${columns.includes(spec) ? ', alter column spec set compression lz4' : ''};
exception when feature_not_supported or invalid_parameter_value then
  alter table ${at} alter column object set storage external;
end $$`,
    `revoke all on ${at} from public`,
    `insert into ${at} (namespace, name, uid, resource_version, object${names.map((one) => `, ${one}`).join('')})
select s.namespace, s.name, s.uid, s.resource_version, ${stored}${columns.map((one) => `, ${one.expression}`).join('')}
from plinth.objects s
cross join lateral (select s.data::text as data offset 0) t
cross join lateral (select plinth.safe_row_object(t.data, ${version('s')}) as converted offset 0) x
cross join lateral (select ${visible} as object offset 0) o
where s.resource = ${quoteText(resource)}`,
    `alter table ${at} add primary key (namespace, name)`,
    ...columns.flatMap((column) => indexStatement(at, column)),
    ...(isIndexed ? [`create index on ${at} using gin (object jsonb_path_ops)`] : []),
    `analyze ${at}`,
    `insert into plinth.projected_tables
  (resource, table_name, digest, columns, expressions, kept, visible, stored, shown, quiet, own_position)
select ${quoteText(resource)}, ${quoteText(name)}, ${quoteText(table.digest)}, ${list(columns.map((one) => one.name))},
  ${list(columns.map((one) => one.expression))}, ${list(kept.map((one) => one.name))}, ${quoteText(visible)},
  ${quoteText(stored)}, ${quoteText(shown ?? 'r.object')}, ${shown === undefined ? quietRule : 'null'}, b.head
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
    case 'paths':
      return [`create index on ${at} using gin (${column} jsonb_path_ops)`];
    case 'btree':
      return [`create index on ${at} (${column})`];
    case 'set':
      return [`create index on ${at} (${column}) where ${column} is not null`];
  }
}
