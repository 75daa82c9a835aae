import type { Column, Row } from './table.js';

export interface Sorting {
  readonly column: number;
  readonly isDown: boolean;
}

/** Rows in which every word of the text occurs, in the order of a column or, without one, as they are. */
export function shownRows(
  rows: readonly Row[],
  columns: readonly Column[],
  text: string,
  sorting: Sorting | undefined,
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? rows : rows.filter((row) => hasAll(row, words));
  if (sorting === undefined) return found;
  const { column, isDown } = sorting;
  const isAge = columns[column]?.name === 'Age';
  const keys = new Map(found.map((row) => [row, isAge ? -Date.parse(row.created) : sortKey(row.cells[column] ?? '')]));
  const sign = isDown ? -1 : 1;
  return [...found].sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
}

function hasAll(row: Row, words: readonly string[]): boolean {
  const text = `${row.key} ${row.cells.join(' ')}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function sortKey(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function compare(a: number | string | undefined, b: number | string | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  // Numbers sort before strings.
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/** The rows that are drawn: those in sight and some around them. */
export interface Window {
  readonly first: number;
  readonly end: number;
}

const around = 8;

/** @param top how far the table is scrolled, in pixels */
export function windowOf(count: number, rowHeight: number, top: number, height: number): Window {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - around);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + around);
  return { first, end: Math.max(first, end) };
}

/** How long ago a time was, in the form of command-line clients: `5m`, `3h12m`, `4d`. Empty for no time. */
export function ageOf(time: string, now: number): string {
  const then = Date.parse(time);
  if (Number.isNaN(then)) return '';
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`;
  return days < 730 ? `${days}d` : `${Math.floor(days / 365)}y`;
}
