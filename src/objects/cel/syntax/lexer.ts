import { CelCompileError } from '../cel-compile-error.js';
import type { CelIssue } from '../cel-error.js';
import { unescapeLiteral } from './escapes.js';

export type TokenKind = 'identifier' | 'quoted' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'operator' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Offset in the text. */
  readonly at: number;
  /** Identifiers, numbers and operators as written; strings unescaped; identifiers without their backticks. */
  readonly text: string;
  readonly bytes: Uint8Array | undefined;
}

/** The most tokens of an expression: more than an expression within the other limits can have. */
const maxTokens = 25_000;
/** The most faults reported for one expression, and the most characters that the message of a fault shows. */
const maxIssues = 10;
const longestShown = 64;
const operators = ['==', '!=', '<=', '>=', '&&', '||'];
const singles = new Set('()[]{}.,:?!<>+-*/%');
const identifierPattern = /[A-Za-z_][A-Za-z0-9_]*/y;
const numberPattern = /0[xX][0-9a-fA-F]+[uU]?|(?:\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|\d+[uU]?/y;
const spacePattern = /(?:[ \t\n\r\f]|\/\/[^\n]*)+/y;
const literalStart = /(?:[rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;
const quotedPattern = /`([A-Za-z0-9_.\-/ ]+)`/y;

/** The tokens of an expression, and the faults: characters that form no token, which are left out. */
export interface Tokens {
  readonly tokens: readonly Token[];
  readonly issues: readonly CelIssue[];
}

/** Splits an expression into tokens; the last one has the kind `end`. Takes time linear in the length. */
export function tokenize(text: string): Tokens {
  const tokens: Token[] = [];
  const issues: CelIssue[] = [];
  let at = 0;
  while (at < text.length) {
    if (tokens.length >= maxTokens) {
      throw new CelCompileError(text, [{ at, message: `expression has more than ${maxTokens} tokens` }]);
    }
    const space = matchAt(spacePattern, text, at);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const read = literalToken(text, at) ?? plainToken(text, at);
    if ('end' in read) {
      tokens.push(read.token);
      at = read.end;
      continue;
    }
    const message = `Syntax error: token recognition error at: '${read.unknown.slice(0, longestShown)}'`;
    if (issues.length < maxIssues) issues.push({ at, message });
    at += read.unknown.length;
  }
  tokens.push({ kind: 'end', at: text.length, text: '', bytes: undefined });
  return { tokens, issues };
}

interface Read {
  readonly token: Token;
  readonly end: number;
}

/** Text that is not a token. */
interface Unreadable {
  readonly unknown: string;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function plainToken(text: string, at: number): Read | Unreadable {
  const make = (kind: TokenKind, value: string, length = value.length): Read => ({
    token: { kind, at, text: value, bytes: undefined },
    end: at + length,
  });
  const identifier = matchAt(identifierPattern, text, at);
  if (identifier !== undefined) return make('identifier', identifier);
  const number = matchAt(numberPattern, text, at);
  if (number !== undefined) {
    const isHex = /^0[xX]/.test(number);
    if (/[uU]$/.test(number)) return make('uint', number.slice(0, -1), number.length);
    return make(!isHex && /[.eE]/.test(number) ? 'double' : 'int', number);
  }
  const quoted = matchAt(quotedPattern, text, at);
  if (quoted !== undefined) return make('quoted', quoted.slice(1, -1), quoted.length);
  const pair = text.slice(at, at + 2);
  if (operators.includes(pair)) return make('operator', pair);
  const char = text[at] as string;
  if (singles.has(char)) return make('operator', char);
  return { unknown: String.fromCodePoint(text.codePointAt(at) as number) };
}

function literalToken(text: string, at: number): Read | Unreadable | undefined {
  const start = matchAt(literalStart, text, at);
  if (start === undefined) return undefined;
  const quote = /["']+$/.exec(start)?.[0] as string;
  const prefix = start.slice(0, start.length - quote.length).toLowerCase();
  const isRaw = prefix.includes('r');
  const end = literalEnd(text, at + start.length, quote, isRaw);
  if (end === undefined) {
    const lineEnd = text.indexOf('\n', at);
    return { unknown: text.slice(at, lineEnd < 0 || quote.length === 3 ? text.length : lineEnd) };
  }
  const body = text.slice(at + start.length, end);
  const isBytes = prefix.includes('b');
  const value = unescapeLiteral(body, isRaw, isBytes);
  if (value === undefined) throw new CelCompileError(text, [{ at, message: 'Syntax error: invalid escape sequence' }]);
  return {
    token: {
      kind: isBytes ? 'bytes' : 'string',
      at,
      text: typeof value === 'string' ? value : '',
      bytes: typeof value === 'string' ? undefined : value,
    },
    end: end + quote.length,
  };
}

/** Offset of the closing quote. */
function literalEnd(text: string, from: number, quote: string, isRaw: boolean): number | undefined {
  for (let at = from; at < text.length; at++) {
    if (text.startsWith(quote, at)) return at;
    if (text[at] === '\\' && !isRaw) at++;
    else if (text[at] === '\n' && quote.length === 1) return undefined;
  }
  return undefined;
}
