import { printable } from '../../backup/format/printable.js';

/** One line of a diff, as the database gives it. */
interface Difference {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

type Color = 'bold' | 'red' | 'green' | 'yellow' | 'dim';
const codes: Readonly<Record<Color, number>> = { bold: 1, red: 31, green: 32, yellow: 33, dim: 2 };
const colorOfVerb: Readonly<Record<string, Color>> = {
  created: 'green',
  updated: 'yellow',
  replaced: 'yellow',
  deleted: 'red',
};
const longestValue = 200;

/** Writes tables for people. `colors`: the output is a terminal, and nobody switched colours off. */
export class HistoryTables {
  constructor(private readonly colors: boolean) {}

  /** Columns under their titles. Further lines of a row follow below it. */
  table(
    titles: readonly string[],
    rows: readonly { readonly cells: readonly (string | null)[]; readonly below?: readonly string[] }[],
  ): string[] {
    const texts = rows.map(({ cells }) => cells.map((cell) => printable(cell ?? '')));
    const widths = titles.map((title, i) => Math.max(title.length, ...texts.map((cells) => cells[i]?.length ?? 0)));
    const verb = titles.indexOf('VERB');
    const line = (cells: readonly string[]) =>
      cells
        .map((cell, i) => {
          const padded = i === cells.length - 1 ? cell : cell.padEnd(widths[i] ?? 0);
          return i === verb ? this.paint(colorOfVerb[cell], padded) : padded;
        })
        .join('   ')
        .trimEnd();
    return [
      this.paint('bold', line(titles)),
      ...texts.flatMap((cells, i) => [line(cells), ...(rows[i]?.below ?? []).map((text) => `  ${text}`)]),
    ];
  }

  /** The effects of a change, one line each. */
  difference(diff: unknown): string[] {
    if (diff === null) return [this.paint('dim', '(encrypted)')];
    return (diff as readonly Difference[]).map(({ op, path, from, to }) => {
      const at = printable(path);
      if (op === 'add') return this.paint('green', `+ ${at}: ${shown(to)}`);
      if (op === 'remove') return this.paint('red', `- ${at}: ${shown(from)}`);
      return `${this.paint('yellow', `~ ${at}:`)} ${this.paint('red', shown(from))} -> ${this.paint('green', shown(to))}`;
    });
  }

  private paint(color: Color | undefined, text: string): string {
    return this.colors && color !== undefined ? `\u001b[${codes[color]}m${text}\u001b[0m` : text;
  }
}

function shown(value: unknown): string {
  const text = printable(JSON.stringify(value));
  return text.length > longestValue ? `${text.slice(0, longestValue)}... (${text.length} characters)` : text;
}
