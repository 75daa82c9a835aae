import type { Column, Row } from './table.js';

/** How the user wants to see the lists of a kind. */
export interface ListSettings {
  /** Names of columns that are left out. */
  readonly hidden: readonly string[];
  /** Whether the columns that are of interest less often are shown. */
  readonly isWide: boolean;
  /** Labels with a column of their own. */
  readonly labels: readonly string[];
  readonly sort?: { readonly column: string; readonly isDown: boolean } | undefined;
}

/** The columns of a table, and after them those of labels. */
export function withLabelColumns(columns: readonly Column[], labels: readonly string[]): readonly Column[] {
  return [...columns, ...labels.map((name) => ({ name, type: 'string', priority: 0 }))];
}

/** Rows with a cell for each label, in the same order as {@link withLabelColumns}. */
export function withLabelCells(rows: readonly Row[], width: number, labels: readonly string[]): readonly Row[] {
  if (labels.length === 0) return rows;
  return rows.map((row) => {
    const cells = Array.from({ length: width }, (_, index) => row.cells[index] ?? '');
    return { ...row, cells: [...cells, ...labels.map((label) => row.labels[label] ?? '')] };
  });
}

/** A column that is drawn, with its place in the cells of the rows. */
export type ShownColumn = Column & { readonly index: number };

/** The columns that the user wants; the first one names the objects and is always there. */
export function chosenColumns(columns: readonly Column[], { hidden, isWide }: ListSettings): readonly ShownColumn[] {
  return columns
    .map((column, index) => ({ ...column, index }))
    .filter(({ name, priority, index }) => index === 0 || ((isWide || priority === 0) && !hidden.includes(name)));
}

/** Columns that are kept longest where there is no room for all. */
const first: readonly string[] = ['Status', 'Ready', 'Type', 'Reason', 'Message', 'Age', 'Restarts'];

/**
 * The columns for which there is room: the last ones are dropped first, the status last.
 *
 * @param widths of the columns in pixels
 */
export function fittingColumns(
  columns: readonly ShownColumn[],
  widths: readonly number[],
  room: number,
): readonly ShownColumn[] {
  const worth = (column: ShownColumn, place: number) => {
    const rank = first.indexOf(column.name);
    return place === 0 ? -1 : rank < 0 ? 100 + place : rank;
  };
  const order = columns
    .map((column, place) => ({ column, width: widths[place] ?? 0, worth: worth(column, place) }))
    .sort((a, b) => a.worth - b.worth);
  const kept = new Set<ShownColumn>();
  let used = 0;
  for (const { column, width } of order) {
    used += width;
    if (used > room && kept.size > 0) break;
    kept.add(column);
  }
  return columns.filter((column) => kept.has(column));
}
