import type { Api } from './api.js';
import { boundedText } from './bounded-text.js';
import { type Followed, type FollowState, follow, type Wait, watchSeconds } from './follow.js';
import type { Metadata, OwnerReference } from './metadata.js';

/** A column of a server-side table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly priority: number;
}

export interface Row {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly created: string;
  readonly isGoing: boolean;
  readonly cells: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly uid: string;
  /** The name of the controller that it belongs to, such as `ReplicaSet/web-5d9`; empty for none. */
  readonly owner: string;
  /** The uids of all owners. */
  readonly owners: readonly string[];
}

interface TableBody {
  readonly kind?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly Partial<Column>[] | null;
  readonly rows?:
    | readonly { readonly cells: readonly unknown[]; readonly object: { readonly metadata: Metadata } }[]
    | null;
  /** The objects, from servers that can't return this kind as a table. */
  readonly items?: readonly { readonly metadata: Metadata }[];
  /** Present only in a watch event whose object is not a table. */
  readonly object?: never;
}

/** The size of the first page, small so that something is shown at once. */
const firstPage = 250;
const nextPages = 1000;

/** The objects of a collection as a table that follows the server. */
export class LiveTable {
  columns: readonly Column[] = [];
  state: FollowState = 'loading';
  message = '';
  /** Whether pages of the list are still to come. */
  isFilling = true;
  private rows = new Map<string, Row>();
  private sorted: readonly Row[] | undefined;

  /**
   * @param collection path of the collection
   * @param query selectors
   * @param changed is called after each change
   */
  constructor(
    private readonly api: Api,
    private readonly collection: string,
    private readonly query: Readonly<Record<string, string>>,
    private readonly suffix: string,
    private readonly changed: () => void,
  ) {}

  run(signal: AbortSignal, wait: Wait): Promise<void> {
    const accept = tableType(this.suffix);
    const followed: Followed = {
      accept,
      list: (ending) => this.list(accept, ending),
      watchPath: (version) =>
        this.path({
          watch: 'true',
          allowWatchBookmarks: 'true',
          timeoutSeconds: watchSeconds,
          resourceVersion: version,
        }),
      event: (type, object) => this.event(type, object as TableBody & { readonly metadata?: Metadata }),
      state: (state, message) => {
        this.state = state;
        this.message = message;
        this.changed();
      },
      forget: () => {
        this.rows = new Map();
        this.sorted = undefined;
      },
    };
    return follow(this.api, followed, signal, wait);
  }

  /** All rows, in the order of namespace and name. */
  get all(): readonly Row[] {
    this.sorted ??= [...this.rows.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    return this.sorted;
  }

  private async list(accept: string, signal: AbortSignal): Promise<string> {
    const seen = new Map<string, Row>();
    const isFirst = this.rows.size === 0;
    let version = '';
    let next = '';
    this.isFilling = true;
    do {
      const limit = String(next === '' ? firstPage : nextPages);
      const query: Record<string, string> = next === '' ? { limit } : { limit, continue: next };
      const page = await this.api.json<TableBody>(this.path(query), { accept, signal });
      this.takeColumns(page);
      for (const row of rowsOf(page)) {
        seen.set(row.key, row);
        // A first list is shown while it grows; a list after a gap replaces what is there once it is complete.
        if (isFirst) this.rows.set(row.key, row);
      }
      version = page.metadata?.resourceVersion ?? version;
      next = page.metadata?.continue ?? '';
      if (isFirst) this.touch();
    } while (next !== '');
    this.rows = seen;
    this.isFilling = false;
    this.touch();
    return version;
  }

  private event(type: string, body: TableBody & { readonly metadata?: Metadata }): string | undefined {
    if (type === 'BOOKMARK') return metadataOf(body)?.resourceVersion;
    this.takeColumns(body);
    const isTable = body.kind === 'Table';
    const rows = isTable ? rowsOf(body) : rowsOf({ items: [{ metadata: body.metadata as Metadata }] });
    for (const row of rows) {
      if (type === 'DELETED') this.rows.delete(row.key);
      else this.rows.set(row.key, row);
    }
    this.touch();
    return metadataOf(body)?.resourceVersion;
  }

  private takeColumns(body: TableBody): void {
    const columns = columnsOf(body);
    if (columns.length > 0) this.columns = columns;
    else if (this.columns.length === 0) this.columns = fewColumns;
  }

  private touch(): void {
    this.sorted = undefined;
    this.changed();
  }

  private path(more: Readonly<Record<string, string>>): string {
    return `${this.collection}?${new URLSearchParams({ ...this.query, ...more })}`;
  }
}

const fewColumns: readonly Column[] = [
  { name: 'Name', type: 'string', priority: 0 },
  { name: 'Age', type: 'string', priority: 0 },
];

function tableType(suffix: string): string {
  return `application/json;as=Table;v=v1;g=meta.${suffix},application/json`;
}

function columnsOf({ columnDefinitions, kind }: TableBody): readonly Column[] {
  if (kind !== 'Table') return [];
  return (columnDefinitions ?? []).map(({ name = '', type = 'string', priority = 0 }) => ({
    name: String(name),
    type,
    priority,
  }));
}

/** Reads a list as a table, once. */
export async function readTable(
  api: Api,
  path: string,
  suffix: string,
  signal: AbortSignal,
): Promise<{ readonly columns: readonly Column[]; readonly rows: readonly Row[] }> {
  const body = await api.json<TableBody>(path, { accept: tableType(suffix), signal });
  const columns = columnsOf(body);
  return { columns: columns.length > 0 ? columns : fewColumns, rows: rowsOf(body) };
}

function metadataOf(body: TableBody & { readonly metadata?: Metadata }): Metadata | undefined {
  return body.kind === 'Table' ? body.rows?.[0]?.object.metadata : body.metadata;
}

function rowsOf({ rows, items }: TableBody): Row[] {
  const table = rows ?? items?.map(({ metadata }) => ({ cells: [metadata.name, ''], object: { metadata } })) ?? [];
  return table.map(({ cells, object: { metadata } }) => ({
    key: `${metadata.namespace ?? ''}/${metadata.name}`,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    created: metadata.creationTimestamp ?? '',
    isGoing: metadata.deletionTimestamp !== undefined,
    cells: cells.map(cellText),
    labels: metadata.labels ?? {},
    uid: metadata.uid ?? '',
    owner: ownerOf(metadata),
    owners: ownersIn(metadata).map(({ uid }) => uid),
  }));
}

function ownersIn({ ownerReferences }: Metadata): readonly OwnerReference[] {
  return Array.isArray(ownerReferences) ? ownerReferences : [];
}

function ownerOf(metadata: Metadata): string {
  const owner = ownersIn(metadata).find(({ controller }) => controller === true);
  return owner === undefined ? '' : `${owner.kind}/${owner.name}`;
}

/** The most letters of a cell of a table. */
const mostOfCell = 1000;

/** A cell as text, whatever a definition put into it. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return boundedText(typeof value === 'object' ? JSON.stringify(value) : String(value), mostOfCell);
}
