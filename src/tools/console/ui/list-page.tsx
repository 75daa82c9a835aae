import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo } from 'preact/hooks';
import { waitInBrowser } from './follow.js';
import { bindKeys } from './keys.js';
import { pathOf } from './kinds.js';
import { adjust, chosenNamespace } from './navigation.js';
import { formatRoute, type ListRoute, type Route } from './routes.js';
import { type Sorting, shownRows } from './rows.js';
import { api, kinds } from './session.js';
import { LiveTable, type Row } from './table.js';
import { TableView } from './table-view.js';
import { useWhileShown } from './use-follow.js';

/** How long changes are collected before they are drawn together, in milliseconds. */
const drawMs = 100;

const filterKeys = [
  { keys: ['/'], run: () => document.getElementById('find')?.focus() },
  { keys: ['l'], run: () => document.getElementById('labels')?.focus() },
  { keys: ['f'], run: () => document.getElementById('fields')?.focus() },
];

/** The objects of a kind, as they are now. */
export function ListPage({ route }: { readonly route: ListRoute }) {
  const { group, version, resource, namespace, labels, fields, text } = route;
  const kind = kinds.value?.all.find((each) => each.group === group && each.resource === resource);
  const scope = kind?.namespaced === false ? '' : namespace;
  const collection = pathOf({ group, version, resource }, scope);
  const drawn = useSignal(0);
  const sorting = useSignal<Sorting | undefined>(undefined);
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
  useEffect(() => {
    if (kind?.namespaced !== false) chosenNamespace.value = namespace;
  }, [namespace, kind]);
  useLayoutEffect(() => bindKeys(filterKeys), []);
  void drawn.value;
  const columns = table.columns;
  const showsNamespace = kind?.namespaced !== false && namespace === '';
  const rows = shownRows(table.all, columns, text, sorting.value);
  const change = (more: Partial<ListRoute>) => adjust({ page: 'list', ...route, ...more });
  return (
    <section class="list">
      <header class="tools">
        <h1>{resource}</h1>
        <Count table={table} shown={rows.length} />
        <span class="gap" />
        <Filter id="find" label="Find (/)" value={text} change={(value) => change({ text: value })} isLive />
        <Filter
          id="labels"
          label="Labels (l)"
          hint="app=web,tier!=db"
          value={labels}
          change={(value) => change({ labels: value })}
        />
        <Filter
          id="fields"
          label="Fields (f)"
          hint="status.phase=Running"
          value={fields}
          change={(value) => change({ fields: value })}
        />
      </header>
      <p role="status" class={table.state === 'failed' || table.state === 'waiting' ? 'problem' : 'unseen'}>
        {stateText(table)}
      </p>
      <TableView
        name={resource}
        columns={columns}
        rows={rows}
        showsNamespace={showsNamespace}
        sorting={sorting.value}
        sort={(column) => {
          sorting.value = nextSorting(sorting.value, column);
        }}
        href={(row) => formatRoute(objectRoute(route, row))}
      />
    </section>
  );
}

/** Sorts by a column first ascending, then descending, then not at all. */
function nextSorting(sorting: Sorting | undefined, column: number): Sorting | undefined {
  if (sorting?.column !== column) return { column, isDown: false };
  return sorting.isDown ? undefined : { column, isDown: true };
}

export function objectRoute({ group, version, resource }: ListRoute, { namespace, name }: Row): Route {
  return { page: 'object', group, version, resource, namespace, name, tab: 'yaml' };
}

function stateText({ state, message }: LiveTable): string {
  if (state === 'failed') return message;
  if (state === 'waiting') return `${message} (trying again)`;
  return state === 'loading' ? 'loading' : 'up to date';
}

function Count({ table, shown }: { readonly table: LiveTable; readonly shown: number }) {
  const { length } = table.all;
  const text = shown === length ? String(length) : `${shown} of ${length}`;
  const isLive = table.state === 'live';
  return (
    <span class="count" data-state={table.state} data-complete={!table.isFilling}>
      {text}
      {table.isFilling && table.state === 'loading' ? '…' : ''}{' '}
      <span class={isLive ? 'dot live' : 'dot'} aria-hidden="true" />
    </span>
  );
}

interface FilterProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly change: (value: string) => void;
  /** Whether each typed letter takes effect, not only Enter. */
  readonly isLive?: boolean;
}

function Filter({ id, label, hint = '', value, change, isLive = false }: FilterProps) {
  const isEmpty = useComputed(() => value === '');
  return (
    <input
      id={id}
      type="search"
      class={isEmpty.value ? '' : 'set'}
      aria-label={label}
      title={label}
      placeholder={hint === '' ? label : `${label}: ${hint}`}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onInput={(event) => isLive && change(event.currentTarget.value)}
      onChange={(event) => !isLive && change(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
      }}
    />
  );
}
