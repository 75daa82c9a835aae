import { CelCompileError } from '../cel-compile-error.js';
import type { CompileWork } from '../compile-work.js';
import { Uint, type Value } from '../values/value.js';
import type { Expression, ListExpression, MapExpression, MessageExpression } from './expression.js';
import { dottedName } from './expression.js';
import { type Token, tokenize } from './lexer.js';
import { expandMacro } from './macros.js';

/** Limits of one expression. They keep the time to parse and check it below a few milliseconds. */
export const expressionLimits = Object.freeze({
  /** The most characters. */
  length: 100_000,
  /** The deepest nesting of calls, selections, operators and parentheses. */
  depth: 250,
  /** The most parts: names, literals, calls. */
  nodes: 10_000,
});

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const relations: Readonly<Record<string, string>> = {
  '==': '_==_',
  '!=': '_!=_',
  '<': '_<_',
  '<=': '_<=_',
  '>': '_>_',
  '>=': '_>=_',
};
const sums: Readonly<Record<string, string>> = { '+': '_+_', '-': '_-_' };
const products: Readonly<Record<string, string>> = { '*': '_*_', '/': '_/_', '%': '_%_' };
const maxInt = (1n << 63n) - 1n;
const maxUint = (1n << 64n) - 1n;
/** The tokens that an expression may begin with, as messages list them. */
const expressionStarts =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/**
 * Parses an expression.
 *
 * @throws {CelCompileError} for a string that is not an expression, and for one that exceeds the {@link
 * expressionLimits}.
 * @throws {CompileWorkExceeded} when `work` is used up.
 */
export function parseExpression(text: string, work?: CompileWork): Expression {
  if (text.length > expressionLimits.length) {
    const message = `expression code point size exceeds limit: size: ${text.length}, limit ${expressionLimits.length}`;
    throw new CelCompileError(text, [{ at: 0, message }]);
  }
  const { tokens, issues } = tokenize(text);
  let parsed: Expression | undefined;
  try {
    parsed = new Parser(text, tokens, work).parse();
  } catch (error) {
    if (!(error instanceof CelCompileError) || issues.length === 0) throw error;
    throw new CelCompileError(
      text,
      [...issues, ...error.issues].sort((a, b) => a.at - b.at),
    );
  }
  if (issues.length > 0) throw new CelCompileError(text, issues);
  return parsed;
}

class Parser {
  private position = 0;
  private depth = 0;
  private nodes = 0;
  private readonly depths = new WeakMap<Expression, number>();

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly work: CompileWork | undefined,
  ) {}

  parse(): Expression {
    const expression = this.expression();
    if (this.token.kind !== 'end') {
      // A single token too many is called so; before several, parsers of this language report the first one.
      const isLast = this.tokens[this.position + 1]?.kind === 'end';
      const fault = isLast ? 'extraneous' : 'mismatched';
      this.fail(this.token.at, `Syntax error: ${fault} input ${this.shown()} expecting <EOF>`);
    }
    return expression;
  }

  private get token(): Token {
    return this.tokens[this.position] as Token;
  }

  private fail(at: number, message: string): never {
    throw new CelCompileError(this.text, [{ at, message }]);
  }

  /** Throws the error for an unexpected token, in the usual wording of parsers of this language. */
  private unexpected(expected: string): never {
    this.fail(this.token.at, `Syntax error: mismatched input ${this.shown()} expecting ${expected}`);
  }

  private shown(): string {
    const { kind, text } = this.token;
    return kind === 'end' ? "'<EOF>'" : `'${text.slice(0, 64)}'`;
  }

  private isOperator(text: string): boolean {
    return this.token.kind === 'operator' && this.token.text === text;
  }

  private accept(text: string): boolean {
    if (!this.isOperator(text)) return false;
    this.position++;
    return true;
  }

  private expect(text: string, others: readonly string[] = []): void {
    if (this.accept(text)) return;
    if (others.length > 0) this.unexpected(`{${[text, ...others].map((other) => `'${other}'`).join(', ')}}`);
    if (this.token.kind === 'end') this.fail(this.token.at, `Syntax error: missing '${text}' at '<EOF>'`);
    this.unexpected(`'${text}'`);
  }

  /** Counts a node and checks its depth: the limit allows code that walks the tree later to recurse. */
  private made<T extends Expression>(expression: T, ...children: readonly (Expression | undefined)[]): T {
    this.work?.charge(1);
    if (++this.nodes > expressionLimits.nodes) {
      this.fail(expression.at, `expression has more than ${expressionLimits.nodes} parts`);
    }
    let depth = 0;
    for (const child of children) if (child !== undefined) depth = Math.max(depth, this.depths.get(child) ?? 0);
    if (depth >= expressionLimits.depth) this.tooDeep(expression.at);
    this.depths.set(expression, depth + 1);
    return expression;
  }

  private tooDeep(at: number): never {
    this.fail(at, `expression recursion limit exceeded: ${expressionLimits.depth}`);
  }

  private expression(): Expression {
    if (++this.depth > expressionLimits.depth) this.tooDeep(this.token.at);
    const condition = this.logical('||', '_||_', () => this.logical('&&', '_&&_', () => this.relation()));
    let result = condition;
    if (this.isOperator('?')) {
      const { at } = this.token;
      this.position++;
      const whenTrue = this.logical('||', '_||_', () => this.logical('&&', '_&&_', () => this.relation()));
      this.expect(':');
      const args = [condition, whenTrue, this.expression()];
      result = this.made({ kind: 'call', at, name: '_?_:_', target: undefined, args }, ...args);
    }
    this.depth--;
    return result;
  }

  private logical(operator: string, name: string, operand: () => Expression): Expression {
    const first = operand();
    if (!this.isOperator(operator)) return first;
    const { at } = this.token;
    const args = [first];
    while (this.accept(operator)) args.push(operand());
    return this.made({ kind: 'call', at, name, target: undefined, args }, ...args);
  }

  private relation(): Expression {
    let left = this.binary(sums, () => this.binary(products, () => this.unary()));
    for (;;) {
      const { kind, text, at } = this.token;
      const name = kind === 'operator' ? relations[text] : kind === 'identifier' && text === 'in' ? '@in' : undefined;
      if (name === undefined) return left;
      this.position++;
      const args = [left, this.binary(sums, () => this.binary(products, () => this.unary()))];
      left = this.made({ kind: 'call', at, name, target: undefined, args }, ...args);
    }
  }

  private binary(names: Readonly<Record<string, string>>, operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const { kind, text, at } = this.token;
      const name = kind === 'operator' ? names[text] : undefined;
      if (name === undefined) return left;
      this.position++;
      const args = [left, operand()];
      left = this.made({ kind: 'call', at, name, target: undefined, args }, ...args);
    }
  }

  private unary(): Expression {
    const { at } = this.token;
    if (this.accept('!')) return this.prefixed('!_', at, '!');
    if (!this.accept('-')) return this.member();
    const { kind } = this.token;
    if (kind === 'int' || kind === 'double') return this.member(true);
    return this.prefixed('-_', at, '-');
  }

  private prefixed(name: string, at: number, operator: string): Expression {
    let count = 1;
    while (this.accept(operator)) count++;
    const operand = this.member();
    // Two operators cancel each other out, as in the newest release.
    if (count % 2 === 0) return operand;
    return this.made({ kind: 'call', at, name, target: undefined, args: [operand] }, operand);
  }

  private member(isNegative = false): Expression {
    let result = this.primary(isNegative);
    for (;;) {
      const { at } = this.token;
      if (this.accept('.')) {
        const isOptional = this.accept('?');
        result = this.selection(result, at, isOptional);
      } else if (this.accept('[')) {
        const isOptional = this.accept('?');
        const args = [result, this.expression()];
        this.expect(']');
        const name = isOptional ? '_[?_]' : '_[_]';
        result = this.made({ kind: 'call', at, name, target: undefined, args }, ...args);
      } else if (this.isOperator('{') && dottedName(result) !== undefined) {
        result = this.message(dottedName(result) as string);
      } else {
        return result;
      }
    }
  }

  private selection(operand: Expression, at: number, isOptional: boolean): Expression {
    const { kind, text: field } = this.token;
    if (kind !== 'identifier' && kind !== 'quoted') this.unexpected('{IDENTIFIER, ESC_IDENTIFIER}');
    this.position++;
    if (isOptional || kind === 'quoted' || !this.isOperator('(')) {
      return this.made({ kind: 'select', at, operand, field, isOptional }, operand);
    }
    return this.call(field, this.token.at, operand);
  }

  private call(name: string, at: number, target: Expression | undefined): Expression {
    this.expect('(');
    const args = this.list(')');
    const macro = expandMacro(name, target, args, at, (offset, message) => this.fail(offset, message));
    return this.made(macro ?? { kind: 'call', at, name, target, args }, target, ...args);
  }

  private list(end: string): Expression[] {
    const items: Expression[] = [];
    if (this.accept(end)) return items;
    if (this.token.kind === 'end') this.unexpected(expressionStarts.replace("'(', ", `'(', '${end}', `));
    do items.push(this.expression());
    while (this.accept(','));
    this.expect(end, [',']);
    return items;
  }

  private primary(isNegative: boolean): Expression {
    const { kind, text, at, bytes } = this.token;
    this.position++;
    switch (kind) {
      case 'int':
      case 'uint':
      case 'double':
        return this.literal(at, this.number(kind, text, at, isNegative));
      case 'string':
        return this.literal(at, text);
      case 'bytes':
        return this.literal(at, bytes as Uint8Array);
      case 'identifier':
        return this.named(text, at);
      case 'operator':
        if (text === '(') {
          const inner = this.expression();
          this.expect(')');
          return inner;
        }
        if (text === '[') return this.listLiteral(at);
        if (text === '{') return this.mapLiteral(at);
        if (text === '.' && this.token.kind === 'identifier') {
          const { text: name } = this.token;
          this.position++;
          return this.named(name, at);
        }
    }
    this.position--;
    return this.unexpected(expressionStarts);
  }

  private literal(at: number, value: Value): Expression {
    return this.made({ kind: 'literal', at, value });
  }

  private number(kind: 'int' | 'uint' | 'double', text: string, at: number, isNegative: boolean): Value {
    if (kind === 'double') return isNegative ? -Number(text) : Number(text);
    if (text.length > 64) this.fail(at, `invalid ${kind} literal`);
    const value = BigInt(text);
    if (kind === 'uint') {
      if (value > maxUint) this.fail(at, 'invalid uint literal');
      return new Uint(value);
    }
    if (value > (isNegative ? maxInt + 1n : maxInt)) this.fail(at, 'invalid int literal');
    return isNegative ? -value : value;
  }

  private named(name: string, at: number): Expression {
    if (name === 'true' || name === 'false') return this.literal(at, name === 'true');
    if (name === 'null') return this.literal(at, null);
    if (name === 'in') {
      this.position--;
      this.unexpected(expressionStarts);
    }
    if (this.isOperator('(')) return this.call(name, this.token.at, undefined);
    if (reserved.has(name)) this.fail(at, `reserved identifier: ${name}`);
    return this.made({ kind: 'identifier', at, name });
  }

  private listLiteral(at: number): ListExpression {
    const elements: { value: Expression; isOptional: boolean }[] = [];
    while (!this.accept(']')) {
      const isOptional = this.accept('?');
      elements.push({ value: this.expression(), isOptional });
      if (this.accept(',')) continue;
      this.expect(']', [',']);
      break;
    }
    return this.made({ kind: 'list', at, elements }, ...elements.map((element) => element.value));
  }

  private mapLiteral(at: number): MapExpression {
    const entries: { key: Expression; value: Expression; isOptional: boolean }[] = [];
    while (!this.accept('}')) {
      const isOptional = this.accept('?');
      const key = this.expression();
      this.expect(':');
      entries.push({ key, value: this.expression(), isOptional });
      if (this.accept(',')) continue;
      this.expect('}', [',']);
      break;
    }
    return this.made({ kind: 'map', at, entries }, ...entries.flatMap((entry) => [entry.key, entry.value]));
  }

  private message(name: string): MessageExpression {
    // Clients find the faults of a message and of its fields at these places.
    const { at } = this.token;
    this.expect('{');
    const fields: { at: number; name: string; value: Expression; isOptional: boolean }[] = [];
    while (!this.accept('}')) {
      const isOptional = this.accept('?');
      const { kind, text } = this.token;
      if (kind !== 'identifier' && kind !== 'quoted') this.unexpected('{IDENTIFIER, ESC_IDENTIFIER}');
      this.position++;
      const { at: fieldAt } = this.token;
      this.expect(':');
      fields.push({ at: fieldAt, name: text, value: this.expression(), isOptional });
      if (this.accept(',')) continue;
      this.expect('}', [',']);
      break;
    }
    return this.made({ kind: 'message', at, name, fields }, ...fields.map((field) => field.value));
  }
}
