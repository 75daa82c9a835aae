import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { isObject, type JsonObject } from '../../../base/machinery/patch/json-value.js';

/** Lines are folded at the first space behind this column. */
const bestWidth = 80;

/** Writes a JSON value as YAML 1.1, in the layout and with the quotes that readers of these answers know. */
export function yamlText(value: unknown): string {
  const writer = new YamlWriter();
  if (isEmptyOrScalar(value)) writer.scalar(value, 0);
  else writer.structure(value, 0, false);
  return `${writer.text()}\n`;
}

function isEmptyOrScalar(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !isObject(value) || membersOf(value).length === 0;
}

function membersOf(value: JsonObject): string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined);
}

class YamlWriter {
  private readonly parts: string[] = [];
  private column = 0;

  text(): string {
    return this.parts.join('');
  }

  private write(text: string): void {
    this.parts.push(text);
    const end = text.lastIndexOf('\n');
    this.column = end < 0 ? this.column + text.length : text.length - end - 1;
  }

  private line(indent: number): void {
    this.write(`${this.parts.length === 0 ? '' : '\n'}${' '.repeat(indent)}`);
  }

  /** @param isInline whether the first line continues one that is begun already */
  structure(value: unknown, indent: number, isInline: boolean): void {
    let isOpen = isInline;
    const begin = () => {
      if (!isOpen) this.line(indent);
      isOpen = false;
    };
    if (Array.isArray(value)) {
      for (const item of value) {
        begin();
        this.write('- ');
        if (isEmptyOrScalar(item)) this.scalar(item, indent + 2);
        else this.structure(item, indent + 2, true);
      }
      return;
    }
    const object = value as JsonObject;
    for (const key of membersOf(object).sort(compareKeys)) {
      begin();
      this.quoted(key, indent, true);
      this.write(':');
      const member = object[key];
      if (isEmptyOrScalar(member)) {
        this.write(' ');
        this.scalar(member, indent + 2);
      } else this.structure(member, Array.isArray(member) ? indent : indent + 2, false);
    }
  }

  /** @param indent that of further lines */
  scalar(value: unknown, indent: number): void {
    if (typeof value === 'string') this.quoted(value, indent, false);
    else if (value === null || value === undefined) this.write('null');
    else if (Array.isArray(value)) this.write('[]');
    else if (isObject(value)) this.write('{}');
    else this.write(value instanceof ExactNumber ? String(value) : numberOrBool(value));
  }

  private quoted(text: string, indent: number, isKey: boolean): void {
    const allowed = stylesOf(text);
    if (text.includes('\n')) {
      if (allowed.block && !isKey) this.literal(text, indent);
      else this.doubleQuoted(text, indent, !isKey);
    } else if (resolvesToOther(text)) this.doubleQuoted(text, indent, !isKey);
    else if (allowed.plain) this.folded(text, indent, '', isKey);
    else if (allowed.single) this.folded(text.replaceAll("'", "''"), indent, "'", isKey);
    else this.doubleQuoted(text, indent, !isKey);
  }

  private folded(text: string, indent: number, quote: string, isKey: boolean): void {
    this.write(quote);
    if (isKey || this.column + text.length <= bestWidth) this.write(text);
    else this.fold(text, indent, () => '');
    this.write(quote);
  }

  /** Writes a text with line breaks in place of single spaces. */
  private fold(text: string, indent: number, after: (next: string) => string): void {
    let from = 0;
    for (let at = text.indexOf(' '); at >= 0; at = text.indexOf(' ', at + 1)) {
      const column = this.column + at - from;
      const isSingle = text[at - 1] !== ' ' && text[at + 1] !== ' ';
      if (column <= bestWidth || at === 0 || at === text.length - 1 || !isSingle) continue;
      this.write(text.slice(from, at));
      this.line(indent);
      this.write(after(text[at + 1] ?? ''));
      from = at + 1;
    }
    this.write(text.slice(from));
  }

  private doubleQuoted(text: string, indent: number, mayFold: boolean): void {
    const escaped = text.replaceAll(unprintable, escapeOf);
    this.write('"');
    if (!mayFold || this.column + escaped.length <= bestWidth) this.write(escaped);
    else this.fold(escaped, indent, () => '');
    this.write('"');
  }

  private literal(text: string, indent: number): void {
    const hint = /^[ \n]/.test(text) ? '2' : '';
    const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
    this.write(`|${hint}${chomp}`);
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    for (const line of lines) {
      this.line(line === '' ? 0 : indent);
      this.write(line);
    }
  }
}

function numberOrBool(value: unknown): string {
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  // Exponents have two digits at least.
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

const unprintable = /["\\]|[^\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|\n/gu;

const shortEscapes: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\ufeff': '\\uFEFF',
};

function escapeOf(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = (character.codePointAt(0) as number).toString(16).toUpperCase();
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
}

const special = /[^\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;
const indicatorAtStart = /^(?:[#,[\]{}&*!|>'"%@`]|[-?:](?:[ \n]|$)|---|\.\.\.)/;

interface Styles {
  readonly plain: boolean;
  readonly single: boolean;
  readonly block: boolean;
}

/** The styles that can hold a text, by its characters. */
function stylesOf(text: string): Styles {
  if (text === '') return { plain: false, single: true, block: false };
  if (special.test(text) || / \n/.test(text)) return { plain: false, single: false, block: false };
  const hasEdges = /^[ \n]|[ \n]$/.test(text);
  const plain = !hasEdges && !text.includes('\n') && !indicatorAtStart.test(text) && !/:(?:[ \n]|$)|[ \n]#/.test(text);
  return { plain, single: !/\n /.test(text), block: !text.endsWith(' ') };
}

const words: ReadonlySet<string> = new Set(
  'y yes true on n no false off ~ null .nan .inf +.inf -.inf'.split(' ').flatMap((word) => {
    const capital = word.replace(/[a-z]/, (letter) => letter.toUpperCase());
    return word === '.nan' ? [word, '.NaN', '.NAN'] : [word, capital, word.toUpperCase()];
  }),
);
const numbers =
  /^(?:[-+]?(?:0b[01]+|0o?[0-7]+|0x[0-9a-fA-F]+|0|[1-9]\d*)|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;
const times =
  /^\d{4}-\d{1,2}-\d{1,2}(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)|[ ]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)?$/;
const sexagesimal = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;

/** Whether a reader would take the text, without quotes, for a value that is no text. */
function resolvesToOther(text: string): boolean {
  if (text === '' || words.has(text) || text === '<<') return true;
  if (!/^[-+.\d]/.test(text)) return false;
  return (
    numbers.test(text.startsWith('.') ? text : text.replaceAll('_', '')) || times.test(text) || sexagesimal.test(text)
  );
}

const digit = /\p{Nd}/u;
const letter = /\p{L}/u;

/** The order of keys: numbers in them by value, other characters before letters. */
function compareKeys(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  let isBehindDigit = false;
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [x, y] = [left[i] as string, right[i] as string];
    if (x === y) {
      isBehindDigit = digit.test(x);
      continue;
    }
    const [isLetter, isOther] = [letter.test(x), letter.test(y)];
    if (isLetter && isOther) return x < y ? -1 : 1;
    if (isLetter || isOther) return isLetter === isBehindDigit ? -1 : 1;
    return compareNumbers(left, right, i) || (x < y ? -1 : 1);
  }
  return left.length - right.length;
}

/** Compares the digits from a place on, where the characters before are the same. */
function compareNumbers(left: readonly string[], right: readonly string[], at: number): number {
  const digitsOf = (characters: readonly string[]) => /^\d*/.exec(characters.slice(at).join(''))?.[0] ?? '';
  const before = /\d*$/.exec(left.slice(0, at).join(''))?.[0] ?? '';
  const lead = (left[at] === '0' || right[at] === '0') && /[1-9]/.test(before) ? '1' : '';
  const [x, y] = [digitsOf(left), digitsOf(right)];
  const order = Number(lead + x || '0') - Number(lead + y || '0');
  return order === 0 ? x.length - y.length : order;
}
