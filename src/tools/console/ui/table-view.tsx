import { useSignal } from '@preact/signals';
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
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  const current = useRef({ rows, href });
  current.current = { rows, href };
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
            <tr
              key={row.key}
              data-key={row.key}
              aria-rowindex={first + offset + 2}
              aria-current={row.key === chosen.value ? 'true' : undefined}
              class={row.isGoing ? 'going' : undefined}
            >
              {showsNamespace && <td>{row.namespace}</td>}
              {shown.map(({ name: title, index }, place) => {
                const text = title === 'Age' ? ageOf(row.created, now.value) : (row.cells[index] ?? '');
                return (
                  <td key={index} title={text.length > 20 ? text : undefined}>
                    {place === 0 ? (
                      <a href={href(row)} tabIndex={-1}>
                        {text || row.name}
                      </a>
                    ) : (
                      text
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
          {space(rows.length - end)}
        </tbody>
      </table>
    </section>
  );
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
  columns: readonly (Column & { index: number })[],
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
