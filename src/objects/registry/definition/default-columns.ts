import { Since, type TableCell, type TableColumn } from '../resource-definition.js';

/** `Name`, the first column of most tables. */
export const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name of the object, unique for its kind within the namespace.',
  cell: (object) => object.metadata.name ?? '',
};

/** Columns of kinds without a table of their own. */
export const defaultColumns: readonly TableColumn[] = [
  nameColumn,
  {
    name: 'Created At',
    type: 'date',
    description: 'When the server created the object.',
    cell: (object) => object.metadata.creationTimestamp ?? null,
  },
];

/** `Age`: time since creation in short form. */
export const ageColumn: TableColumn = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  cell: ({ metadata }) => since(metadata.creationTimestamp),
};

/** A cell with the time since an RFC 3339 timestamp; `<unknown>` without a timestamp. */
export function since(time: string | null | undefined): TableCell {
  return time === undefined || time === null || time === '' ? '<unknown>' : new Since(Date.parse(time));
}

/** The text that a table shows for a cell at a time in milliseconds. */
export function shownCell(cell: TableCell, now: number): Exclude<TableCell, Since> {
  return cell instanceof Since ? `${cell.before}${humanDuration(now - cell.time)}${cell.after}` : cell;
}

/**
 * A duration for humans: at most two units, precise where it is short (`119s`, `2m5s`, `3h12m`, `26h`, `2d3h`, `14d`,
 * `2y35d`). Small negative values, from clocks that differ, count as zero.
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return withRest(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  if (days < 2920) return withRest(years, 'y', days % 365, 'd');
  return `${years}y`;
}

function withRest(value: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${value}${unit}` : `${value}${unit}${rest}${restUnit}`;
}

/**
 * Durations in milliseconds, from `from` up to but without `until`, that {@link humanDuration} shows like the given one;
 * there may be more of them.
 */
export function likeDurations(milliseconds: number): { readonly from: number; readonly until: number } {
  const hours = milliseconds / 3_600_000;
  const step = hours < 1 / 6 ? 1_000 : hours < 8 ? 60_000 : hours < 192 ? 3_600_000 : 86_400_000;
  const from = Math.floor(milliseconds / step) * step;
  return { from, until: from + step };
}
