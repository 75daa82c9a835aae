import { createHash } from 'node:crypto';

/** A column of a table of rows, besides those that every table has. */
export interface RowColumn {
  readonly name: string;
  readonly type: string;
  /** SQL over `o.object`, the visible part of the object, and `x.converted`, all of it. */
  readonly expression: string;
  /**
   * The kind of index, if any. `paths`: only for `@>`. `shared`: all columns with it have one index together, for a
   * condition on any of them. `set`, `some`: without the rows in which the column is null.
   */
  readonly index?: 'btree' | 'shared' | 'paths' | 'set' | 'some';
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
  /**
   * A column in a table of its own, which has the rows of the same keys. It has most of the index entries of a row, which
   * PostgreSQL makes anew whenever an indexed column of the same table changes.
   */
  readonly apart: RowColumn | undefined;
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

/** The controller is nearly always the first of the owners, if there are any; a search costs ten times as much. */
const owner = `left(case
    when o.object #> '{metadata,ownerReferences}' is null then null
    when o.object #> '{metadata,ownerReferences,0,controller}' = 'true'
      then (o.object #>> '{metadata,ownerReferences,0,kind}') || '/' || (o.object #>> '{metadata,ownerReferences,0,name}')
    else plinth.object_owner(o.object) end, 500)`;

/** Columns that every view has besides those of its kind, because people filter by them. */
const everyTable: readonly RowColumn[] = [
  {
    name: 'created_at',
    type: 'timestamptz',
    // The function reads its argument ten times.
    expression: `(select plinth.to_time(c.at) from (
      select o.object #>> '{metadata,creationTimestamp}' as at offset 0) c)`,
  },
  {
    name: 'deleted_at',
    type: 'timestamptz',
    // Most objects have none.
    expression: `case when o.object #> '{metadata,deletionTimestamp}' is not null
    then plinth.to_time(o.object #>> '{metadata,deletionTimestamp}') end`,
    index: 'set',
  },
  { name: 'labels', type: 'jsonb', expression: "o.object #> '{metadata,labels}'", index: 'shared' },
  // An index entry has a size limit; names of kinds and objects do not come near it, other texts might.
  { name: 'owner', type: 'text', expression: owner, index: 'btree' },
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
  { name: 'images', type: 'text[]', expression: images, index: 'shared' },
  { name: 'reasons', type: 'text[]', expression: reasons, index: 'some' },
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
    ...(isSplit && !isLight ? [spec] : []),
  ];
  const apart = isSplit && isLight ? spec : undefined;
  const text = {
    visible: resource === 'secrets' ? 'plinth.secret_object(x.converted)' : 'x.converted',
    ...(isLight ? { stored: 'null::jsonb', shown: undefined } : isSplit ? splitObject : wholeObject),
    isIndexed: shape.isIndexed || !(isSplit || isRestless),
  };
  // Raise the number when the functions in the expressions return something else.
  const digest = createHash('sha256')
    .update(JSON.stringify([columns, apart, text, 4]))
    .digest('hex');
  return { resource, title, columns, apart, ...text, digest };
}

/** The columns of the table, by name, for a view that reads the objects themselves. */
export function shownColumns({ columns }: RowTable, fieldNames: ReadonlySet<string>): readonly RowColumn[] {
  const own = new Set(['created_at', 'deleted_at', 'labels', 'data_keys']);
  return columns.filter(({ name, field }) => field === undefined && !own.has(name) && !fieldNames.has(name));
}
