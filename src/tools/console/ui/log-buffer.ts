/** One line of a log. */
export interface LogLine {
  readonly number: number;
  /** The container or pod that wrote it, where several are shown. */
  readonly from: string;
  readonly text: string;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours and movements of terminals begin with one
const terminalCodes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what no line of text has
const otherCodes = /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** A line without the codes by which programs colour it, and without those that change the order of letters. */
export function cleanLine(line: string): string {
  return line.replace(terminalCodes, '').replace(otherCodes, '');
}

/** More than this of one line is cut off: nobody reads it, and it would hold up the page. */
const mostLetters = 4000;

/** The last lines of logs, in the order in which they came. */
export class LogBuffer {
  private lines: LogLine[] = [];
  private count = 0;

  constructor(private readonly most: number) {}

  add(from: string, line: string): void {
    const text = line.length > mostLetters ? `${line.slice(0, mostLetters)}…` : line;
    this.count++;
    this.lines.push({ number: this.count, from, text: cleanLine(text) });
    // Not for each line: removing one line at a time would move all others each time.
    if (this.lines.length > this.most * 1.5) this.lines = this.lines.slice(-this.most);
  }

  /** How many lines came. */
  get total(): number {
    return this.count;
  }

  /** The last lines, at most as many as the buffer may hold. */
  get last(): readonly LogLine[] {
    return this.lines.slice(-this.most);
  }
}

/** The lines that contain every word. */
export function linesWith(lines: readonly LogLine[], text: string): readonly LogLine[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return lines;
  return lines.filter((line) => {
    const whole = `${line.from} ${line.text}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

const badLine = /\b(?:error|err|fatal|panic|critical|exception)\b|level=error/i;
const warnLine = /\bwarn(?:ing)?\b/i;

/** How a line is to be read, by its words. */
export function toneOfLine(text: string): 'bad' | 'warn' | undefined {
  const head = text.slice(0, 200);
  if (badLine.test(head)) return 'bad';
  return warnLine.test(head) ? 'warn' : undefined;
}
