import { type Signal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { bindKeys } from './keys.js';
import { open } from './navigation.js';
import { ageOf, type Sorting, windowOf } from './rows.js';
import type { Column, Row } from './table.js';

/** Height of a row in pixels; `style.css` has the same. */
const rowHeight = 28;

interface TableViewProps {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly showsNamespace: boolean;
  readonly sorting: Sorting | undefined;
  readonly sort: (column: number) => void;
  /** The address of the page of a row. */
  readonly href: (row: Row) => string;
}

/** A table of any length, of which only the rows in sight are drawn. */
export function TableView({ name, columns, rows, showsNamespace, sorting, sort, href }: TableViewProps) {
  const frame = useRef<HTMLElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  /** The chosen row by name: it stays chosen when rows come and go around it. */
  const chosen = useSignal('');
  const now = useSignal(Date.now());
  useFrame(frame, height, chosen);
  useTime(now);
  useRowKeys(frame, { rows, href }, chosen);
  const shown = columns.map((column, index) => ({ ...column, index })).filter(({ priority }) => priority === 0);
  const { first, end } = windowOf(rows.length, rowHeight, top.value, height.value);
  const widths = columnWidths(shown, rows.slice(first, end), showsNamespace);
  const before = showsNamespace ? 1 : 0;
  const count = shown.length + before;
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
      <table aria-rowcount={rows.length + 1} aria-colcount={count}>
        <colgroup>
          {widths.map((width, index) => (
            <col key={index} style={{ width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {showsNamespace && <th scope="col">Namespace</th>}
            {shown.map(({ name: title, index }) => (
              <th key={index} scope="col" aria-sort={sortState(sorting, index)}>
                <button type="button" onClick={() => sort(index)}>
                  {title}
                  {sorting?.column === index ? (sorting.isDown ? ' ↓' : ' ↑') : ''}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {space(first)}
          {rows.slice(first, end).map((row, offset) => (
            <TableRow
              key={row.key}
              row={row}
              columns={shown}
              place={first + offset}
              isChosen={row.key === chosen.value}
              showsNamespace={showsNamespace}
              href={href(row)}
              now={now.value}
            />
          ))}
          {space(rows.length - end)}
        </tbody>
      </table>
    </section>
  );
}

type ShownColumn = Column & { readonly index: number };

interface TableRowProps {
  readonly row: Row;
  readonly columns: readonly ShownColumn[];
  /** The index of the row among all rows, from 0. */
  readonly place: number;
  readonly isChosen: boolean;
  readonly showsNamespace: boolean;
  readonly href: string;
  /** The current time, from which ages are computed. */
  readonly now: number;
}

function TableRow({ row, columns, place, isChosen, showsNamespace, href, now }: TableRowProps) {
  return (
    <tr
      data-key={row.key}
      aria-rowindex={place + 2}
      aria-current={isChosen ? 'true' : undefined}
      class={row.isGoing ? 'going' : undefined}
    >
      {showsNamespace && <td>{row.namespace}</td>}
      {columns.map(({ name: title, index }, column) => {
        const text = title === 'Age' ? ageOf(row.created, now) : (row.cells[index] ?? '');
        return (
          <td key={index} title={text.length > 20 ? text : undefined}>
            {column === 0 ? (
              <a href={href} tabIndex={-1}>
                {text || row.name}
              </a>
            ) : (
              text
            )}
          </td>
        );
      })}
    </tr>
  );
}

/** Keeps the height of the frame, and chooses the row that is clicked. */
function useFrame(frame: RefObject<HTMLElement | null>, height: Signal<number>, chosen: Signal<string>): void {
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    const choose = (event: Event) => {
      const row = event.target instanceof Element ? event.target.closest('tr[data-key]') : null;
      if (row instanceof HTMLElement) chosen.value = row.dataset.key ?? '';
    };
    element.addEventListener('click', choose);
    return () => {
      observer.disconnect();
      element.removeEventListener('click', choose);
    };
  }, []);
}

function useTime(now: Signal<number>): void {
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }, []);
}

/** Keys that choose a row by its place, and open it. */
function useRowKeys(
  frame: RefObject<HTMLElement | null>,
  table: Pick<TableViewProps, 'rows' | 'href'>,
  chosen: Signal<string>,
): void {
  const current = useRef(table);
  current.current = table;
  useLayoutEffect(() => {
    const index = () => current.current.rows.findIndex(({ key }) => key === chosen.value);
    const choose = (to: number) => {
      const { rows: all } = current.current;
      const next = Math.max(0, Math.min(all.length - 1, to));
      chosen.value = all[next]?.key ?? '';
      reveal(frame.current, next);
    };
    return bindKeys([
      { keys: ['j', 'ArrowDown'], run: () => choose(index() + 1) },
      { keys: ['k', 'ArrowUp'], run: () => choose(index() - 1) },
      { keys: ['PageDown'], run: () => choose(index() + 20) },
      { keys: ['PageUp'], run: () => choose(index() - 20) },
      { keys: ['g', 'Home'], run: () => choose(0) },
      { keys: ['G', 'End'], run: () => choose(Number.MAX_SAFE_INTEGER) },
      {
        keys: ['Enter'],
        run: () => {
          const row = current.current.rows[index()];
          if (row !== undefined) open(current.current.href(row));
        },
      },
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

/** Shares of the width by the longest text in sight. */
function columnWidths(
  columns: readonly ShownColumn[],
  rows: readonly Row[],
  showsNamespace: boolean,
): readonly string[] {
  const longest = (texts: readonly string[], least: number) =>
    Math.min(48, Math.max(least, ...texts.map(({ length }) => length)) + 2);
  const widths = columns.map(({ name, index }) => {
    const texts = name === 'Age' ? [] : rows.map(({ cells }) => cells[index] ?? '');
    return longest(texts, Math.max(name.length + 2, 6));
  });
  const names = rows.map(({ namespace }) => namespace);
  const all = showsNamespace ? [longest(names, 10), ...widths] : widths;
  const total = all.reduce((sum, width) => sum + width, 0);
  return all.map((width) => `${((100 * width) / total).toFixed(2)}%`);
}
