import { exactJson } from './exact-json.js';

/** Rows of the database's texts; null stands for no value. */
export interface SqlRows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/**
 * An answer as CSV with a line of titles. Null is an empty field, an empty text is quoted. A text that spreadsheets
 * would take for a formula gets an apostrophe before it: rows may contain what anybody wrote.
 */
export function csvOf({ columns, rows }: SqlRows): string {
  const lines = [columns.map(csvField), ...rows.map((row) => row.map((cell) => (cell === null ? '' : csvField(cell))))];
  return lines.map((fields) => `${fields.join(',')}\r\n`).join('');
}

function csvField(text: string): string {
  const isNumber = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !isNumber ? `'${text}` : text;
  return text === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** An answer as a JSON list of objects. Values are the database's texts; columns of the same name get a number. */
export function jsonOf({ columns, rows }: SqlRows): string {
  const names: string[] = [];
  for (const column of columns) {
    let name = column;
    for (let number = 2; names.includes(name); number++) name = `${column}_${number}`;
    names.push(name);
  }
  const objects = rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])));
  return `[${objects.map((object) => `\n  ${exactJson(object)}`).join(',')}\n]\n`;
}
