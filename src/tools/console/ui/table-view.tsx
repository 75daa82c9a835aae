import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { now } from './clock.js';
import { fittingColumns, type ShownColumn } from './columns.js';
import { bindKeys } from './keys.js';
import { open } from './navigation.js';
import { ageOf, type Sorting, windowOf } from './rows.js';
import { toneOfCell } from './status.js';
import { StatusText } from './status-badge.js';
import type { Row } from './table.js';

/** Height of a row in pixels; `lists.css` has the same. */
const rowHeight = 32;

interface TableViewProps {
  readonly name: string;
  /** The kind of the rows. */
  readonly resource: string;
  readonly columns: readonly ShownColumn[];
  readonly rows: readonly Row[];
  readonly showsNamespace: boolean;
  readonly sorting: Sorting | undefined;
  readonly sort: (column: number) => void;
  /** The address of a row. */
  readonly href: (row: Row) => string;
  /** The row whose object is shown beside the table. */
  readonly openKey: string;
  /** Shows another row's object beside the table. */
  readonly peek: (row: Row) => void;
  /** The rows that are selected, by key. */
  readonly selected: Signal<ReadonlySet<string>>;
  /** Whether columns for which there is no room are scrolled to instead of left out. */
  readonly scrolls: boolean;
  readonly isLoading: boolean;
}

/** A table of any length, of which only the rows in sight are drawn. */
export function TableView(props: TableViewProps) {
  const { name, columns, rows, sorting, sort, href, selected, isLoading } = props;
  const frame = useRef<HTMLElement>(null);
  const top = useSignal(0);
  const size = useSignal({ width: 1000, height: 600 });
  /** The chosen row by name: it stays chosen when rows come and go around it. */
  const chosen = useSignal(props.openKey);
  useFrame(frame, size, chosen, props);
  useRowKeys(frame, props, chosen);
  useOpenRow(frame, rows, props.openKey);
  // On a narrow screen it stands behind the name.
  const showsNamespace = props.showsNamespace && size.value.width >= narrow;
  const { first, end } = windowOf(rows.length, rowHeight, top.value, size.value.height);
  const inSight = rows.slice(first, end);
  const { shown, widths } = fitColumns(props, inSight, showsNamespace, size.value.width);
  const least = widths.reduce((sum, width) => sum + width, 0);
  const count = widths.length + 1;
  const space = (rowsOut: number) => (
    <tr class="space" style={{ height: `${rowsOut * rowHeight}px` }}>
      <td colSpan={count} />
    </tr>
  );
  return (
    <section
      ref={frame}
      class="table"
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
      tabIndex={0}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
      }}
    >
      <table
        aria-rowcount={rows.length + 1}
        aria-colcount={count}
        style={{ minWidth: `${props.scrolls ? least + markWidth : 0}px` }}
      >
        <colgroup>
          <col style={{ width: `${markWidth}px` }} />
          {widths.map((width, index) => (
            <col key={index} style={{ width: `${((100 * width) / (least + markWidth)).toFixed(2)}%` }} />
          ))}
        </colgroup>
        <TableHead {...{ shown, showsNamespace, sorting, sort, rows, selected }} />
        <tbody>
          {space(first)}
          {inSight.map((row, offset) => (
            <TableRow
              key={row.key}
              row={row}
              resource={props.resource}
              columns={shown}
              allColumns={columns}
              place={first + offset}
              isChosen={row.key === chosen.value}
              isOpen={row.key === props.openKey}
              showsNamespace={showsNamespace}
              hasNamespace={props.showsNamespace && !showsNamespace}
              href={href(row)}
              selected={selected}
            />
          ))}
          {space(rows.length - end)}
          {isLoading && rows.length === 0 && <Bones columns={Math.max(count, leastBones)} />}
        </tbody>
      </table>
    </section>
  );
}

/** The columns that fit, and the widths of all columns behind that of the boxes, in pixels. */
function fitColumns(
  { columns, scrolls, showsNamespace: hasNamespace }: Pick<TableViewProps, 'columns' | 'scrolls' | 'showsNamespace'>,
  inSight: readonly Row[],
  showsNamespace: boolean,
  width: number,
): { readonly shown: readonly ShownColumn[]; readonly widths: readonly number[] } {
  const namespaces = inSight.map(({ namespace }) => namespace);
  const ofNamespace = showsNamespace ? textWidth(namespaces, 10) : 0;
  const space = width - markWidth - ofNamespace;
  const besideName =
    hasNamespace && !showsNamespace
      ? Math.max(0, ...namespaces.map(({ length }) => Math.min(length, 20))) * smallLetter + 8
      : 0;
  const wanted = columns.map((column, place) => {
    const own = columnWidth(column, inSight) + (place === 0 ? besideName : 0);
    // A long name must not push the status out of the table.
    return place === 0 && !scrolls ? Math.min(own, Math.max(150, space * 0.55)) : own;
  });
  const shown = scrolls ? columns : fittingColumns(columns, wanted, space);
  const widths = shown.map((column) => wanted[columns.indexOf(column)] ?? 100);
  return { shown, widths: showsNamespace ? [ofNamespace, ...widths] : widths };
}

/** Below this width of the table in pixels, the namespace has no column of its own. */
const narrow = 460;
/** Width of a letter of the small texts, in pixels. */
const smallLetter = 6;
/** Width of the column with the boxes to tick, in pixels. */
const markWidth = 38;

type HeadProps = Pick<TableViewProps, 'showsNamespace' | 'sorting' | 'sort' | 'rows' | 'selected'> & {
  readonly shown: readonly ShownColumn[];
};

function TableHead({ shown, showsNamespace, sorting, sort, rows, selected }: HeadProps) {
  const isAll = rows.length > 0 && rows.every(({ key }) => selected.value.has(key));
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th scope="col" class="mark-cell">
          <input
            type="checkbox"
            aria-label="Select all rows"
            checked={isAll}
            onChange={() => {
              selected.value = isAll ? new Set() : new Set(rows.map(({ key }) => key));
            }}
          />
        </th>
        {showsNamespace && <th scope="col">Namespace</th>}
        {shown.map(({ name: title, index }) => (
          <th key={index} scope="col" aria-sort={sortState(sorting, index)}>
            <button type="button" onClick={() => sort(index)} title={`Sort by ${title}`}>
              {title}
              {sorting?.column === index ? (sorting.isDown ? ' ↓' : ' ↑') : ''}
            </button>
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** How many columns are drawn before the server has named them. */
const leastBones = 6;

function Bones({ columns }: { readonly columns: number }) {
  return Array.from({ length: 12 }, (_, line) => (
    <tr key={line} class="bones">
      {Array.from({ length: columns }, (_each, column) => (
        <td key={column}>{column > 0 && <span class={`bone b${(line + column) % 5}`} />}</td>
      ))}
    </tr>
  ));
}

interface TableRowProps {
  readonly row: Row;
  readonly resource: string;
  readonly columns: readonly ShownColumn[];
  /** Also those without room: a status may depend on them. */
  readonly allColumns: readonly ShownColumn[];
  /** The index of the row among all rows, from 0. */
  readonly place: number;
  readonly isChosen: boolean;
  readonly isOpen: boolean;
  readonly showsNamespace: boolean;
  /** Whether the namespace stands behind the name. */
  readonly hasNamespace: boolean;
  readonly href: string;
  readonly selected: Signal<ReadonlySet<string>>;
}

function TableRow(props: TableRowProps) {
  const { row, resource, columns, allColumns, place, isChosen, isOpen, showsNamespace, href, selected } = props;
  const isTicked = selected.value.has(row.key);
  const classes = [row.isGoing ? 'going' : '', isOpen ? 'open' : '', isTicked ? 'ticked' : ''];
  const others = (title: string) => row.cells[allColumns.find(({ name }) => name === title)?.index ?? -1] ?? '';
  return (
    <tr
      data-key={row.key}
      aria-rowindex={place + 2}
      aria-current={isChosen ? 'true' : undefined}
      class={classes.filter(Boolean).join(' ') || undefined}
    >
      <td class="mark-cell">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select ${row.name}`}
          checked={isTicked}
          onChange={() => toggle(selected, row.key)}
        />
      </td>
      {showsNamespace && <td class="quiet">{row.namespace}</td>}
      {columns.map(({ name: title, index }, column) => {
        const text = title === 'Age' ? ageOf(row.created, now.value) : (row.cells[index] ?? '');
        const tone = toneOfCell(resource, title, text, others);
        return (
          <td key={index} title={text.length > 20 ? text : undefined}>
            {column === 0 ? (
              <>
                <a href={href} tabIndex={-1}>
                  {text || row.name}
                </a>
                {props.hasNamespace && <small>{row.namespace}</small>}
              </>
            ) : tone === undefined ? (
              text
            ) : (
              <StatusText tone={tone} text={text} />
            )}
          </td>
        );
      })}
    </tr>
  );
}

function toggle(selected: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(selected.value);
  if (!next.delete(key)) next.add(key);
  selected.value = next;
}

/** Keeps the size of the frame, and opens the row that is clicked. */
function useFrame(
  frame: RefObject<HTMLElement | null>,
  size: Signal<{ readonly width: number; readonly height: number }>,
  chosen: Signal<string>,
  table: Pick<TableViewProps, 'rows' | 'href'>,
): void {
  const current = useRef(table);
  current.current = table;
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const measure = () => {
      size.value = { width: element.clientWidth, height: element.clientHeight };
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const choose = (event: Event) => {
      if (!(event.target instanceof Element)) return;
      const row = event.target.closest('tr[data-key]');
      if (!(row instanceof HTMLElement)) return;
      chosen.value = row.dataset.key ?? '';
      const isSelecting = document.getSelection()?.isCollapsed === false;
      if (isSelecting || event.target.closest('a, input, .mark-cell') !== null) return;
      const found = current.current.rows.find(({ key }) => key === chosen.value);
      if (found !== undefined) open(current.current.href(found));
    };
    element.addEventListener('click', choose);
    return () => {
      observer.disconnect();
      element.removeEventListener('click', choose);
    };
  }, []);
}

/** Scrolls to the row whose object is shown, once it is there. */
function useOpenRow(frame: RefObject<HTMLElement | null>, rows: readonly Row[], openKey: string): void {
  const shown = useRef('');
  useLayoutEffect(() => {
    if (openKey === shown.current) return;
    const index = rows.findIndex(({ key }) => key === openKey);
    if (index < 0 && openKey !== '') return;
    shown.current = openKey;
    if (index >= 0) reveal(frame.current, index);
  }, [rows, openKey]);
}

/** Keys that choose a row by its place, open and tick it. */
function useRowKeys(
  frame: RefObject<HTMLElement | null>,
  table: Pick<TableViewProps, 'rows' | 'href' | 'openKey' | 'peek' | 'selected'>,
  chosen: Signal<string>,
): void {
  const current = useRef(table);
  current.current = table;
  useLayoutEffect(() => {
    const index = () => current.current.rows.findIndex(({ key }) => key === chosen.value);
    const choose = (to: number) => {
      const { rows: all, openKey, peek } = current.current;
      const next = all[Math.max(0, Math.min(all.length - 1, to))];
      chosen.value = next?.key ?? '';
      if (next === undefined) return;
      reveal(frame.current, all.indexOf(next));
      if (openKey !== '' && openKey !== next.key) peek(next);
    };
    const withRow = (run: (row: Row) => void) => {
      const row = current.current.rows[index()];
      if (row !== undefined) run(row);
    };
    return bindKeys([
      { keys: ['j', 'ArrowDown'], run: () => choose(index() + 1) },
      { keys: ['k', 'ArrowUp'], run: () => choose(index() - 1) },
      { keys: ['PageDown'], run: () => choose(index() + 20) },
      { keys: ['PageUp'], run: () => choose(index() - 20) },
      { keys: ['g', 'Home'], run: () => choose(0) },
      { keys: ['G', 'End'], run: () => choose(Number.MAX_SAFE_INTEGER) },
      { keys: ['Enter'], run: () => withRow((row) => open(current.current.href(row))) },
      { keys: [' '], run: () => withRow((row) => toggle(current.current.selected, row.key)) },
    ]);
  }, []);
}

function reveal(frame: HTMLElement | null, index: number): void {
  if (frame === null) return;
  // The head of the table covers the first row in sight.
  const room = frame.clientHeight - rowHeight;
  const at = index * rowHeight;
  if (at < frame.scrollTop) frame.scrollTop = at;
  else if (at + rowHeight > frame.scrollTop + room) frame.scrollTop = at + rowHeight - room;
}

function sortState(sorting: Sorting | undefined, column: number): 'ascending' | 'descending' | 'none' {
  if (sorting?.column !== column) return 'none';
  return sorting.isDown ? 'descending' : 'ascending';
}

function columnWidth({ name, index }: ShownColumn, rows: readonly Row[]): number {
  const texts = name === 'Age' ? ['00m00s0'] : rows.map(({ cells }) => cells[index] ?? '');
  // Room for the mark of a status.
  return textWidth(texts, name.length + 2) + (name === 'Status' || name === 'Ready' ? 18 : 0);
}

/** The width of the longest text in pixels, with the space around it. */
function textWidth(texts: readonly string[], least: number): number {
  const letters = Math.min(48, Math.max(least, ...texts.map(({ length }) => length)));
  return letters * 7.2 + 24;
}
