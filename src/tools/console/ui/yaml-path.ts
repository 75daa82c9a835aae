/** A step into a value: the name of a field, or any item of a list. */
export type Step = string | typeof anyItem;
export const anyItem = Symbol('item');

/** Where a cursor stands in a text of YAML. */
export interface YamlPlace {
  /** The steps from the object to what holds the field. */
  readonly path: readonly Step[];
  /** The field of the line; empty where none is typed yet. */
  readonly field: string;
  /** What is typed at the cursor: the beginning of a field's name or of its value. */
  readonly typed: string;
  /** Whether the cursor stands behind the colon. */
  readonly isValue: boolean;
  /** Columns before the field. */
  readonly indent: number;
}

interface KeyLine {
  /** Columns of each dash, outermost first. */
  readonly dashes: readonly number[];
  readonly indent: number;
  readonly field: string;
  /** The column behind the colon; undefined without one. */
  readonly valueAt: number | undefined;
}

const keyPattern = /^(?:"([^"]*)"|'([^']*)'|([^\s#:"'[{][^:#]*?|[^\s#:"'[{]))\s*:(?:\s|$)/;

function readLine(line: string): KeyLine | undefined {
  const dashes: number[] = [];
  let at = line.length - line.trimStart().length;
  while (line.charAt(at) === '-' && /^(?:\s|$)/.test(line.slice(at + 1))) {
    dashes.push(at);
    const rest = line.slice(at + 1);
    at += 1 + (rest.trim() === '' ? 1 : rest.length - rest.trimStart().length);
  }
  const rest = line.slice(at);
  if (rest.startsWith('#') || (rest.trim() === '' && dashes.length === 0)) return undefined;
  const found = keyPattern.exec(rest);
  if (found === null) return { dashes, indent: at, field: rest.trim(), valueAt: undefined };
  const field = found[1] ?? found[2] ?? found[3] ?? '';
  return { dashes, indent: at, field, valueAt: at + found[0].length };
}

/**
 * The place of a cursor. It is read from the indentation of the lines above, so that half-typed texts have places too;
 * flow collections (`{a: 1}`) and texts of several lines have none of their own.
 *
 * @param lines of the document, up to the cursor's at least
 * @param at index of the cursor's line
 * @param column of the cursor
 */
export function yamlPlace(lines: readonly string[], at: number, column: number): YamlPlace {
  const line = lines[at] ?? '';
  const own = readLine(line.trim() === '' ? '' : line);
  const typedLine = line.slice(0, column);
  const indent = own === undefined ? Math.max(column, typedLine.length) : own.indent;
  const isValue = own?.valueAt !== undefined && column >= own.valueAt - 1 && /:\s/.test(line.slice(own.indent, column));
  const path = pathTo(lines, at, own === undefined ? { dashes: [], indent } : own);
  const field = own?.field ?? '';
  const typed = isValue ? typedLine.slice(own?.valueAt ?? column).trimStart() : typedLine.slice(indent).trimStart();
  return { path, field, typed, isValue, indent };
}

function pathTo(lines: readonly string[], at: number, own: Pick<KeyLine, 'dashes' | 'indent'>): Step[] {
  const path: Step[] = [];
  let { indent } = own;
  for (const dash of own.dashes.toReversed()) {
    path.unshift(anyItem);
    indent = dash;
  }
  // A dash may stand in the column of the key that holds the list.
  let isItem = own.dashes.length > 0;
  for (let above = at - 1; above >= 0 && (indent > 0 || isItem); above--) {
    const text = lines[above] ?? '';
    if (/^---/.test(text)) break;
    const key = readLine(text);
    if (key === undefined) continue;
    const holds = key.indent < indent || (isItem && key.indent === indent);
    if (holds && key.valueAt !== undefined) {
      path.unshift(key.field);
      ({ indent } = key);
      isItem = false;
    }
    for (const dash of key.dashes.toReversed()) {
      if (dash >= indent) continue;
      path.unshift(anyItem);
      indent = dash;
      isItem = true;
    }
  }
  return path;
}

/** Names of the fields beside the place: those of the same object. */
export function fieldsBeside(lines: readonly string[], at: number, indent: number): ReadonlySet<string> {
  const found = new Set<string>();
  const look = (from: number, step: number) => {
    for (let index = from; index >= 0 && index < lines.length; index += step) {
      const text = lines[index] ?? '';
      if (/^---/.test(text)) return;
      const key = readLine(text);
      if (key === undefined) continue;
      const isNextItem = key.dashes.some((dash) => dash < indent);
      if (key.indent < indent || (isNextItem && step > 0)) return;
      if (key.indent === indent && key.valueAt !== undefined) found.add(key.field);
      if (isNextItem) return;
    }
  };
  const own = readLine(lines[at] ?? '');
  if (own === undefined || own.dashes.length === 0) look(at - 1, -1);
  look(at + 1, 1);
  return found;
}

/** The bounds of the document of a line in a text with several: indexes of its first line and behind its last. */
export function documentAround(lines: readonly string[], at: number): { readonly from: number; readonly to: number } {
  const isBound = (line: string) => /^---(?:\s|$)/.test(line);
  let from = at;
  while (from > 0 && !isBound(lines[from - 1] ?? '')) from--;
  let to = at + 1;
  while (to < lines.length && !isBound(lines[to] ?? '')) to++;
  return { from, to };
}
