import { createHash } from 'node:crypto';
import { cutName, quoteName, quoteText } from '../../base/database/sql-text.js';
import { apartTableName } from './sql-row-statements.js';
import { type RowTable, rowTable, shownColumns } from './sql-row-text.js';

/** How a field of a kind is shown: `jsonb` unchanged, `text` for strings, `time` for timestamps. */
export type SqlColumnType = 'jsonb' | 'text' | 'time';

/** A top-level field of a kind. */
export interface SqlViewField {
  /** Name of the field in the object. */
  readonly field: string;
  readonly type: SqlColumnType;
}

/** What a view of one resource shows. */
export interface SqlViewSource {
  /** Name of the view within schema `cluster`. */
  readonly name: string;
  /** `resource` column of the stored objects. */
  readonly storageResource: string;
  readonly namespaced: boolean;
  /** One line about the rows. */
  readonly comment: string;
  /** Top-level fields besides metadata. Ignored for Secrets, whose columns are fixed. */
  readonly fields: readonly SqlViewField[];
  /** Whether objects may contain JSON that jsonb can't hold, such as numbers of any size. */
  readonly holdsAnyJson?: boolean;
}

/** A view ready to be created. `digest` changes whenever its definition does. */
export interface SqlView {
  readonly name: string;
  /** `resource` column of the stored objects that it shows. */
  readonly storageResource: string;
  readonly query: string;
  readonly comment: string;
  readonly digest: string;
  /** Whether a reader's own functions in WHERE could see more than the view shows. */
  readonly needsBarrier: boolean;
}

/** The view of one resource: over the objects themselves, or over a table of rows. */
export interface SqlViewForms {
  readonly storageResource: string;
  readonly ofObjects: SqlView;
  readonly rows: RowTable;
  /** The table of rows that also has an index on the whole object. */
  readonly indexedRows: RowTable;
  ofRows(rows: RowTable, tableName: string): SqlView;
}

/** Objects of this resource are never shown with their values, under any served name. */
const secretsResource = 'secrets';
/** Postgres allows 1664 columns. A field without a column is still in `object`. */
const mostFields = 1_000;

const metadataColumns: readonly (readonly [name: string, expression: string])[] = [
  ['created_at', "plinth.to_time(d.object #>> '{metadata,creationTimestamp}')"],
  ['deleted_at', "plinth.to_time(d.object #>> '{metadata,deletionTimestamp}')"],
  ['labels', "d.object #> '{metadata,labels}'"],
  ['annotations', "d.object #> '{metadata,annotations}'"],
  ['owner_references', "d.object #> '{metadata,ownerReferences}'"],
];

/** Writes the definitions of a view. */
export function sqlView(source: SqlViewSource): SqlViewForms {
  const { storageResource, fields, comment, holdsAnyJson = false } = source;
  const isSecret = storageResource === secretsResource;
  const name = cutName(source.name);
  const own = fieldColumns(isSecret ? [] : fields);
  const shape = {
    hasStatus: !isSecret && fields.some(({ field }) => field === 'status'),
    hasSpec: own.some(([column, expression]) => column === 'spec' && expression === fieldExpression('spec', 'jsonb')),
    holdsAnyJson,
  };
  const rows = rowTable(storageResource, source.name, { ...shape, isIndexed: false });
  const indexedRows = rowTable(storageResource, source.name, { ...shape, isIndexed: true });
  const shown = shownColumns(rows, new Set(own.map(([column]) => column)));
  const key: readonly Column[] = [
    ['namespace', source.namespaced ? 'o.namespace' : 'null::text'],
    ['name', 'o.name'],
    ['uid', 'o.uid'],
    ['resource_version', 'o.resource_version'],
  ];
  const ofObjects = () => {
    const columns: readonly Column[] = [
      ...key,
      ...metadataColumns,
      ...(isSecret ? secretColumns : own),
      ...shown.map(({ name, expression }) => [name, expression.replaceAll('o.object', 'd.object')] as const),
      ['object', holdsAnyJson ? 'd.object' : 'plinth.versioned_object(d.object, o.resource_version)'],
    ];
    const converted = 'plinth.to_jsonb(o.data)';
    const keys = isSecret ? `, plinth.json_keys(${converted} -> 'data') as data_keys` : '';
    // One bad object must not make the whole view fail. The function that ensures this takes longer.
    const shownObject = "plinth.shown_object('', o.data, o.resource_version)";
    const object = isSecret ? `plinth.secret_object(${converted})` : holdsAnyJson ? shownObject : converted;
    // OFFSET 0 keeps the planner from repeating the conversion in every column.
    return `${selectOf(columns)}
from plinth.objects o
cross join lateral (select ${object} as object${keys} offset 0) d
where o.resource = ${quoteText(storageResource)}`;
  };
  const ofRows = (table: RowTable, tableName: string) => {
    const { apart } = table;
    const stored = new Map([...table.columns, ...(apart === undefined ? [] : [apart])].map((one) => [one.name, one]));
    const live = table.shown === undefined ? liveState(storageResource, tableName) : undefined;
    const fromObject = ([column, expression]: Column): Column => [
      column,
      expression.replaceAll('d.object', live === undefined ? 'o.object' : `(${live.object})`),
    ];
    const fromRow = (column: Column): Column =>
      stored.has(column[0])
        ? [column[0], `${column[0] === apart?.name ? 'a' : 'o'}.${quoteName(column[0])}`]
        : fromObject(column);
    // A field of a custom kind may have the name of a column that shows something else.
    const fromField = (column: Column): Column => {
      const field = stored.get(column[0])?.field;
      const shows = (type: SqlColumnType) => field !== undefined && fieldExpression(field, type) === column[1];
      return shows('jsonb') || shows('text') || shows('time') ? fromRow(column) : fromObject(column);
    };
    const columns: readonly Column[] = [
      ...key.map(
        (column): Column =>
          live !== undefined && column[0] === 'resource_version' ? [column[0], live.version] : column,
      ),
      ...metadataColumns.map(fromRow),
      ...(isSecret ? secretColumns.map(fromRow) : own.map(fromField)),
      ...shown.map(({ name }) => [name, `o.${quoteName(name)}`] as const),
      ['object', live?.object ?? (table.shown ?? '').replaceAll(/\br\./g, 'o.')],
    ];
    // Queries that need nothing of the other table don't read it: the planner drops an outer join to a key.
    const other =
      apart === undefined
        ? ''
        : `
left join plinth.${quoteName(apartTableName(tableName))} a on a.namespace = o.namespace and a.name = o.name`;
    return `${selectOf(columns)}\nfrom plinth.${quoteName(tableName)} o${other}`;
  };
  return {
    storageResource,
    ofObjects: withDigest({ name, storageResource, query: ofObjects(), comment, needsBarrier: true }),
    rows,
    indexedRows,
    ofRows: (table, tableName) =>
      withDigest({ name, storageResource, query: ofRows(table, tableName), comment, needsBarrier: false }),
  };
}

/**
 * The version and the whole object of a row `o` without a copy of the object. The row shows a position of the log, and so
 * must they: the object may have changed since, and then the first change after the position has the state before it.
 * Where the log does not reach back to the position, as after a long time without the loop, it is the present state.
 *
 * Queries that need neither read only the rows: sub-selects of columns that are not asked for are not run. All that is
 * called here is safe in parallel: one function that is not would keep every query of the view from it.
 */
function liveState(resource: string, tableName: string): { readonly version: string; readonly object: string } {
  const position = `(select coalesce(t.own_position, nullif(p.position, -1))
      from plinth.projected_tables t, plinth.projection p where t.table_name = ${quoteText(tableName)})`;
  const isSame = (row: string) =>
    `${row}.resource = ${quoteText(resource)} and ${row}.namespace = o.namespace and ${row}.name = o.name`;
  const isLater = `${isSame('c')} and c.resource_version > ${position}`;
  // One of the three has a row.
  const state = (value: string) => `(select ${value} from (
    select l.data, l.resource_version as version from plinth.objects l
    where ${isSame('l')} and l.resource_version <= ${position}
    union all
    (select coalesce(c.previous, (select b.data from plinth.changes b where b.resource_version = c.previous_version)),
      c.previous_version from plinth.changes c where ${isLater} order by c.resource_version limit 1)
    union all
    select l.data, l.resource_version from plinth.objects l
    where ${isSame('l')} and (l.resource_version <= ${position}) is not true
      and not exists (select from plinth.changes c where ${isLater})
    limit 1) s)`;
  return { version: state('s.version'), object: state('plinth.versioned_object(plinth.to_jsonb(s.data), s.version)') };
}

function withDigest(view: Omit<SqlView, 'digest'>): SqlView {
  const { query, comment, needsBarrier } = view;
  const digest = createHash('sha256').update(`${query}\n${comment}\n${needsBarrier}`).digest('hex');
  return { ...view, digest };
}

type Column = readonly [name: string, expression: string];

function selectOf(columns: readonly Column[]): string {
  return `select\n${columns.map(([name, expression]) => `  ${expression} as ${quoteName(name)}`).join(',\n')}`;
}

const secretColumns: readonly (readonly [string, string])[] = [
  ['type', "d.object ->> 'type'"],
  ['immutable', "d.object -> 'immutable'"],
  ['data_keys', 'd.data_keys'],
];

function fieldColumns(fields: readonly SqlViewField[]): (readonly [string, string])[] {
  const taken = new Set(['namespace', 'name', 'uid', 'resource_version', 'object', 'metadata']);
  for (const [name] of metadataColumns) taken.add(name);
  const counts = new Map<string, number>();
  return fields
    .filter(({ field }) => isSqlText(field))
    .slice(0, mostFields)
    .map(({ field, type }) => {
      const plain = snakeCase(field);
      let name = cutName(plain === '' ? 'field' : plain);
      while (taken.has(name)) {
        const count = (counts.get(plain) ?? 0) + 1;
        counts.set(plain, count);
        name = cutName(count === 1 ? `field_${plain}` : `field_${plain}_${count}`);
      }
      taken.add(name);
      return [name, fieldExpression(field, type)] as const;
    });
}

/** Custom kinds may have fields whose names the database can't store as text. */
function isSqlText(field: string): boolean {
  return !field.includes('\0') && field.isWellFormed();
}

function fieldExpression(field: string, type: SqlColumnType): string {
  const key = quoteText(field);
  if (type === 'time') return `plinth.to_time(d.object ->> ${key})`;
  return `d.object ${type === 'text' ? '->>' : '->'} ${key}`;
}

/** `lastTimestamp` -> `last_timestamp`, `podIP` -> `pod_ip`. */
function snakeCase(field: string): string {
  return field
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
}
