import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { Boundary } from './boundary.js';
import { BulkBar } from './bulk-bar.js';
import { chosenColumns, withLabelCells, withLabelColumns } from './columns.js';
import { waitInBrowser } from './follow.js';
import { bindKeys } from './keys.js';
import { titleOfKind } from './kind-title.js';
import { type Kind, pathOf } from './kinds.js';
import { ListBlank } from './list-blank.js';
import { changeSettings, settingsOf } from './list-settings.js';
import { ListTools } from './list-tools.js';
import { moment } from './moment.js';
import { keyOfKind } from './nav-groups.js';
import { adjust, chosenNamespace } from './navigation.js';
import { ObjectView } from './object-view.js';
import { formatRoute, type ListRoute, type Route } from './routes.js';
import { type Sorting, shownRows } from './rows.js';
import { api, kinds } from './session.js';
import { LiveTable, type Row } from './table.js';
import { TableView } from './table-view.js';
import { useWhileShown } from './use-follow.js';

/** How long changes are collected before they are drawn together, in milliseconds. */
const drawMs = 100;

/** The objects of a kind, as they are now, and beside them the one that is open. */
export function ListPage({ route }: { readonly route: ListRoute }) {
  const { group, version, resource, namespace, open } = route;
  const kind = kinds.value?.all.find((each) => each.group === group && each.resource === resource);
  const title = kind === undefined ? resource : titleOfKind(kind);
  const change = (more: Partial<ListRoute>) => adjust({ page: 'list', ...route, ...more });
  const close = () => {
    const { open: _, ...list } = route;
    adjust({ page: 'list', ...list });
    document.querySelector<HTMLElement>('.table')?.focus();
  };
  const selected = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (kind?.namespaced !== false) chosenNamespace.value = namespace;
    selected.value = new Set();
  }, [namespace, kind]);
  return (
    <div class="split">
      <List route={route} kind={kind} title={title} change={change} selected={selected} />
      {open !== undefined && (
        <aside class="panel" aria-label={`${resource} ${open.name}`}>
          <Boundary what="object" at={`${open.namespace}/${open.name}`}>
            <ObjectView
              key={`${open.namespace}/${open.name}`}
              route={{ group, version, resource, ...open }}
              show={(tab) => change({ open: { ...open, tab } })}
              close={close}
            />
          </Boundary>
        </aside>
      )}
    </div>
  );
}

interface ListProps {
  readonly route: ListRoute;
  readonly kind: Kind | undefined;
  readonly title: string;
  readonly change: (more: Partial<ListRoute>) => void;
  readonly selected: { value: ReadonlySet<string> } & Parameters<typeof TableView>[0]['selected'];
}

function List({ route, kind, title, change, selected }: ListProps) {
  const { group, resource, namespace, text, open } = route;
  const table = useTable(route, kind);
  const key = keyOfKind({ group, resource });
  const settings = settingsOf(key);
  const { labels } = settings;
  const every = useMemo(() => withLabelColumns(table.columns, labels), [table.columns, labels]);
  const cells = useMemo(() => withLabelCells(table.all, table.columns.length, labels), [table.all, labels]);
  const sorting = sortingOf(settings.sort, every);
  const rows = shownRows(cells, every, text, sorting);
  const showsNamespace = kind?.namespaced !== false && namespace === '';
  const sort = (column: number) => {
    const next = nextSorting(sorting, column);
    const name = next === undefined ? undefined : every[next.column]?.name;
    changeSettings(key, { sort: name === undefined ? undefined : { column: name, isDown: next?.isDown === true } });
  };
  const isEmpty = rows.length === 0 && table.state !== 'loading' && !(table.isFilling && table.all.length === 0);
  const objectOf = (row: Row) => ({ namespace: row.namespace, name: row.name, tab: open?.tab ?? ('summary' as const) });
  return (
    <section class="list">
      <ListTools route={route} kind={kind} title={title} table={table} shown={rows.length} change={change} />
      <p role="status" class={table.state === 'failed' || table.state === 'waiting' ? 'problem notice' : 'unseen'}>
        {stateText(table)}
      </p>
      <TableView
        name={title}
        resource={resource}
        columns={chosenColumns(every, settings)}
        rows={rows}
        showsNamespace={showsNamespace}
        sorting={sorting}
        sort={sort}
        href={(row) => formatRoute({ page: 'list', ...route, open: objectOf(row) })}
        openKey={open === undefined ? '' : `${open.namespace}/${open.name}`}
        peek={(row) => change({ open: objectOf(row) })}
        selected={selected}
        scrolls={settings.isWide}
        isLoading={table.state === 'loading' || table.isFilling}
      />
      {isEmpty && table.state !== 'failed' && (
        <ListBlank route={route} kind={kind} title={title} total={table.all.length} change={change} />
      )}
      {selected.value.size > 0 && kind !== undefined && moment.value === undefined && (
        <BulkBar kind={kind} rows={rows} selected={selected} />
      )}
    </section>
  );
}

const filterKeys = [
  { keys: ['/'], run: () => document.getElementById('find')?.focus() },
  { keys: ['l'], run: () => document.getElementById('labels')?.focus() },
  { keys: ['f'], run: () => document.getElementById('fields')?.focus() },
];

/** The table of a list, which follows the server while it is shown. */
function useTable({ group, version, resource, namespace, labels, fields }: ListRoute, kind: Kind | undefined) {
  const collection = pathOf({ group, version, resource }, kind?.namespaced === false ? '' : namespace);
  const drawn = useSignal(0);
  const table = useMemo(() => {
    const query = { ...(labels && { labelSelector: labels }), ...(fields && { fieldSelector: fields }) };
    let isPlanned = false;
    let isFirst = true;
    return new LiveTable(api, collection, query, kinds.value?.suffix ?? 'k8s.io', () => {
      if (isPlanned) return;
      isPlanned = true;
      const draw = () => {
        isPlanned = false;
        drawn.value++;
      };
      setTimeout(draw, isFirst ? 0 : drawMs);
      isFirst = table.all.length === 0;
    });
  }, [collection, labels, fields]);
  useWhileShown((signal) => table.run(signal, waitInBrowser), [table]);
  useLayoutEffect(() => bindKeys(filterKeys), []);
  void drawn.value;
  return table;
}

function sortingOf(
  sort: { readonly column: string; readonly isDown: boolean } | undefined,
  columns: readonly { readonly name: string }[],
): Sorting | undefined {
  const column = columns.findIndex(({ name }) => name === sort?.column);
  return sort === undefined || column < 0 ? undefined : { column, isDown: sort.isDown };
}

/** Sorts by a column first ascending, then descending, then not at all. */
function nextSorting(sorting: Sorting | undefined, column: number): Sorting | undefined {
  if (sorting?.column !== column) return { column, isDown: false };
  return sorting.isDown ? undefined : { column, isDown: true };
}

export function objectRoute({ group, version, resource }: ListRoute, { namespace, name }: Row): Route {
  return { page: 'object', group, version, resource, namespace, name, tab: 'summary' };
}

function stateText({ state, message }: LiveTable): string {
  if (state === 'failed') return message;
  if (state === 'waiting') return `${message} (trying again)`;
  return state === 'loading' ? 'loading' : 'up to date';
}
