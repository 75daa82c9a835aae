import { JsonPathError } from './json-path-error.js';
import { evaluateSteps, type Step } from './json-path-steps.js';
import { LookBudget } from './look-budget.js';

/**
 * A JSON path of a printer column, in the form that command-line clients use without the braces: fields (`.spec.x`,
 * `['x']`, `.a\.b` for a name with a dot), all members (`.*`, `[*]`), elements (`[0]`, `[-1]`), slices (`[0:4:2]`),
 * unions (`[0,2]`), filters (`[?(@.type=="Ready")]`) and descendants (`..name`).
 */
export interface JsonPath {
  readonly text: string;
  readonly steps: readonly Step[];
}

const maxLength = 4096;
const maxFilterDepth = 8;
const fieldEnds = new Set([' ', '.', ',', '[', ']', '$', '@', '{', '}']);

/** Reads a path; throws a {@link JsonPathError}. */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > maxLength) throw new JsonPathError(`a path may have at most ${maxLength} characters`);
  return { text, steps: new PathParser(text, 0).parse() };
}

/**
 * The values that a path finds in a value, in the order of the value. Missing members are not an error: nothing is
 * found then. Undefined when the path does not fit the value (an index into a string), or would read too much of it.
 *
 * @param budget shared by evaluations that take too long together
 */
export function findByPath(
  { steps }: JsonPath,
  value: unknown,
  budget = new LookBudget(),
): readonly unknown[] | undefined {
  return evaluateSteps(steps, value, budget);
}

/** The names along a path of plain fields (`.spec.replicas`), as the scale of an object has them. */
export function plainFields(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}

class PathParser {
  private position = 0;
  private readonly steps: Step[] = [];

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {}

  parse(): readonly Step[] {
    // As on the reference, which wraps paths in braces, text after the first closing brace does not affect a cell.
    while (this.position < this.text.length && this.text.charAt(this.position) !== '}') this.parseStep();
    return this.steps;
  }

  private parseStep(): void {
    const { text, position } = this;
    const next = text.charAt(position);
    if (text.startsWith('[?(', position)) this.parseFilter();
    else if (text.startsWith('..', position)) this.parseDescendants();
    else if (next === '[') this.parseBrackets();
    else if (next === '.') {
      this.position++;
      this.parseField();
    } else if (next === '"' || next === "'") this.parseQuoted(next);
    else if (/[-+\d]/.test(next)) this.parseNumber();
    // `@` and `$` denote the current value, at which a path starts anyway.
    else if (' @$'.includes(next)) this.position++;
    else this.parseWord();
  }

  private parseDescendants(): void {
    this.position += 2;
    this.steps.push({ kind: 'descendants' });
    if (/[\p{L}\p{N}_]/u.test(this.text.charAt(this.position))) this.parseField();
  }

  private parseField(): void {
    const { text } = this;
    const start = this.position;
    while (this.position < text.length && !fieldEnds.has(text.charAt(this.position))) {
      this.position += text.charAt(this.position) === '\\' ? 2 : 1;
    }
    const name = text.slice(start, this.position);
    // `.[0]` and a single dot denote the value itself.
    if (name === '*') this.steps.push({ kind: 'all' });
    else if (name !== '') this.steps.push({ kind: 'field', name: name.replaceAll('\\', '') });
  }

  private parseBrackets(): void {
    const end = this.text.indexOf(']', this.position);
    if (end < 0) throw new JsonPathError('unterminated array');
    const inside = this.text.slice(this.position + 1, end);
    this.position = end + 1;
    const branches = inside.split(',');
    if (branches.length > 1) {
      this.steps.push({ kind: 'union', branches: branches.map((branch) => this.nested(`[${branch.trim()}]`)) });
      return;
    }
    const key = /^'([^']*)'$/.exec(inside);
    if (key !== null) {
      this.steps.push(...this.nested(`.${key[1]}`));
      return;
    }
    if (inside === '*') {
      this.steps.push({ kind: 'slice', from: undefined, to: undefined, step: undefined });
      return;
    }
    const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(inside);
    if (slice === null) throw new JsonPathError(`invalid array index ${inside}`);
    const [, first, second, third] = slice;
    const from = integer(first);
    if (second === undefined) {
      if (first === '-') throw new JsonPathError(`invalid array index ${inside}`);
      this.steps.push({ kind: 'element', index: from ?? 0 });
      return;
    }
    const step = integer(third);
    if (step !== undefined && step <= 0) throw new JsonPathError('step must be > 0');
    this.steps.push({ kind: 'slice', from, to: integer(second), step });
  }

  private parseFilter(): void {
    const start = this.position + '[?('.length;
    const end = this.endOfFilter(start);
    const inside = this.text.slice(start, end);
    this.position = end + ')]'.length;
    const comparison = /^([^!<>=]+)([!<>=]+)([\s\S]+)$/.exec(inside);
    if (comparison === null) {
      this.steps.push({ kind: 'filter', left: this.nested(inside), operator: 'exists', right: [] });
      return;
    }
    const [, left = '', operator = '', right = ''] = comparison;
    if (!isOperator(operator)) throw new JsonPathError(`unrecognized filter operator ${operator}`);
    this.steps.push({ kind: 'filter', left: this.nested(left), operator, right: this.nested(right) });
  }

  private endOfFilter(start: number): number {
    const { text } = this;
    let quote: string | undefined;
    for (let i = start; i < text.length; i++) {
      const next = text.charAt(i);
      if (quote !== undefined) {
        if (next === quote && text.charAt(i - 1) !== '\\') quote = undefined;
      } else if (next === '"' || next === "'") quote = next;
      else if (next === ')') {
        if (text.charAt(i + 1) !== ']') throw new JsonPathError('unclosed array expect ]');
        return i;
      }
    }
    throw new JsonPathError('unterminated filter');
  }

  private parseQuoted(quote: string): void {
    const start = this.position + 1;
    let end = start;
    while (end < this.text.length && this.text.charAt(end) !== quote) end += this.text.charAt(end) === '\\' ? 2 : 1;
    if (end >= this.text.length) throw new JsonPathError('unterminated quoted string');
    this.position = end + 1;
    const value = this.text.slice(start, end).replaceAll(/\\(.)/g, '$1');
    this.steps.push({ kind: 'constant', value });
  }

  private parseNumber(): void {
    const number = /^[-+]?(?:\d+\.?\d*|\.\d+)/.exec(this.text.slice(this.position))?.[0];
    if (number === undefined) throw new JsonPathError(`cannot parse number ${this.text.slice(this.position)}`);
    this.position += number.length;
    this.steps.push({ kind: 'constant', value: Number(number) });
  }

  private parseWord(): void {
    const word = /^[\p{L}\p{N}_]+/u.exec(this.text.slice(this.position))?.[0];
    if (word === undefined) {
      throw new JsonPathError(`unrecognized character in action: ${this.text.charAt(this.position)}`);
    }
    if (word !== 'true' && word !== 'false') throw new JsonPathError(`unrecognized identifier ${word}`);
    this.position += word.length;
    this.steps.push({ kind: 'constant', value: word === 'true' });
  }

  private nested(text: string): readonly Step[] {
    if (this.depth >= maxFilterDepth) throw new JsonPathError(`filters may be nested at most ${maxFilterDepth} deep`);
    return new PathParser(text, this.depth + 1).parse();
  }
}

function integer(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new JsonPathError(`invalid array index ${text}`);
  return value;
}

const operators = ['<', '>', '==', '!=', '<=', '>='] as const;
type Operator = (typeof operators)[number];

function isOperator(text: string): text is Operator {
  return (operators as readonly string[]).includes(text);
}
