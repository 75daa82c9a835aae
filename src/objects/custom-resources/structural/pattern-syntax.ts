import { UnusualSyntax } from './unusual-syntax.js';
/** Sorted, disjoint ranges of code points: first and last of each. */
export type CodePoints = readonly (readonly [first: number, last: number])[];

/** A pattern as a tree. */
export type PatternNode =
  | { readonly kind: 'set'; readonly points: CodePoints }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

const maxPoint = 0x10ffff;
const digits: CodePoints = [[0x30, 0x39]];
const word: CodePoints = sorted([...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]);
const space: CodePoints = sorted([
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
]);
const anyButNewline: CodePoints = inverted([[0x0a, 0x0a]]);
const named: Readonly<Record<string, CodePoints>> = {
  d: digits,
  D: inverted(digits),
  w: word,
  W: inverted(word),
  s: space,
  S: inverted(space),
};
const posix: Readonly<Record<string, CodePoints>> = {
  alnum: sorted([...digits, [0x41, 0x5a], [0x61, 0x7a]]),
  alpha: [
    [0x41, 0x5a],
    [0x61, 0x7a],
  ],
  digit: digits,
  lower: [[0x61, 0x7a]],
  upper: [[0x41, 0x5a]],
  word,
};
const controls: Readonly<Record<string, number>> = { n: 0x0a, t: 0x09, r: 0x0d, f: 0x0c, v: 0x0b };
const punctuation = /[!-/:-@[-`{-~]/;
const repetition = /\{(\d{1,4})(,(\d{0,4}))?\}/y;
const group = /\((?:\?:|\?P?<\w+>|(?!\?))/y;
const hex = /\\x(?:([0-9a-fA-F]{2})|\{([0-9a-fA-F]{1,6})\})/y;
const posixClass = /\[:(\w+):\]/y;

/** The tree of a pattern that was found valid. Throws an UnusualSyntax for flags, Unicode classes and the like. */
export function parsePattern(source: string): PatternNode {
  const parser = new Parser(source);
  const node = parser.choice();
  if (!parser.isAtEnd) throw new UnusualSyntax();
  return node;
}

class Parser {
  private at = 0;

  constructor(private readonly source: string) {}

  get isAtEnd(): boolean {
    return this.at >= this.source.length;
  }

  choice(): PatternNode {
    const parts = [this.sequence()];
    while (this.source[this.at] === '|') {
      this.at++;
      parts.push(this.sequence());
    }
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'choice', parts };
  }

  private sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd && this.source[this.at] !== '|' && this.source[this.at] !== ')') {
      parts.push(this.repeated(this.atom()));
    }
    return parts.length === 1 ? (parts[0] as PatternNode) : { kind: 'sequence', parts };
  }

  private repeated(part: PatternNode): PatternNode {
    let min: number;
    let max: number;
    const char = this.source[this.at];
    if (char === '*' || char === '+' || char === '?') {
      min = char === '+' ? 1 : 0;
      max = char === '?' ? 1 : Number.POSITIVE_INFINITY;
      this.at++;
    } else {
      const match = char === '{' ? this.take(repetition) : null;
      if (match === null) return part;
      min = Number(match[1]);
      max = match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3]);
    }
    // Greedy and lazy repetitions match the same strings.
    if (this.source[this.at] === '?') this.at++;
    if ('*+?'.includes(this.source[this.at] ?? '-')) throw new UnusualSyntax();
    return { kind: 'repeat', part, min, max };
  }

  private atom(): PatternNode {
    const char = this.source[this.at] as string;
    switch (char) {
      case '(':
        return this.group();
      case '[':
        return { kind: 'set', points: this.bracketed() };
      case '.':
        this.at++;
        return { kind: 'set', points: anyButNewline };
      case '^':
        this.at++;
        return { kind: 'start' };
      case '$':
        this.at++;
        return { kind: 'end' };
      case '\\':
        return this.escaped();
      case '*':
      case '+':
      case '?':
        throw new UnusualSyntax();
      default:
        return { kind: 'set', points: single(this.point()) };
    }
  }

  private group(): PatternNode {
    if (this.take(group) === null) throw new UnusualSyntax();
    const node = this.choice();
    if (this.source[this.at] !== ')') throw new UnusualSyntax();
    this.at++;
    return node;
  }

  private escaped(): PatternNode {
    const next = this.source[this.at + 1];
    if (next === 'A' || next === 'z') {
      this.at += 2;
      return { kind: next === 'A' ? 'start' : 'end' };
    }
    return { kind: 'set', points: this.escapedPoints() };
  }

  private escapedPoints(): CodePoints {
    const hexMatch = this.take(hex);
    if (hexMatch !== null) return single(Number.parseInt(hexMatch[1] ?? (hexMatch[2] as string), 16));
    const next = this.source[this.at + 1] ?? '';
    const control = controls[next];
    const points = named[next] ?? (control === undefined ? undefined : single(control));
    if (points === undefined && !punctuation.test(next)) throw new UnusualSyntax();
    this.at += 2;
    return points ?? single(next.charCodeAt(0));
  }

  private bracketed(): CodePoints {
    this.at++;
    const isInverted = this.source[this.at] === '^';
    if (isInverted) this.at++;
    const ranges: (readonly [number, number])[] = [];
    for (let isFirst = true; this.source[this.at] !== ']' || isFirst; isFirst = false) {
      if (this.isAtEnd) throw new UnusualSyntax();
      const first = this.bracketPart();
      const isRange = this.source[this.at] === '-' && (this.source[this.at + 1] ?? ']') !== ']';
      if (!isRange) {
        ranges.push(...first);
        continue;
      }
      this.at++;
      const last = this.bracketPart();
      const [low, high] = [onlyPoint(first), onlyPoint(last)];
      ranges.push([low, high]);
    }
    this.at++;
    const points = sorted(ranges);
    return isInverted ? inverted(points) : points;
  }

  private bracketPart(): CodePoints {
    const char = this.source[this.at];
    if (char === '\\') return this.escapedPoints();
    const match = char === '[' ? this.take(posixClass) : null;
    if (match === null) return single(this.point());
    const points = posix[match[1] as string];
    if (points === undefined) throw new UnusualSyntax();
    return points;
  }

  private point(): number {
    const point = this.source.codePointAt(this.at) as number;
    this.at += point > 0xffff ? 2 : 1;
    return point;
  }

  private take(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.at;
    const match = form.exec(this.source);
    if (match !== null) this.at += match[0].length;
    return match;
  }
}

function single(point: number): CodePoints {
  return [[point, point]];
}

function onlyPoint(points: CodePoints): number {
  const [range] = points;
  if (points.length !== 1 || range === undefined || range[0] !== range[1]) throw new UnusualSyntax();
  return range[0];
}

function sorted(ranges: readonly (readonly [number, number])[]): CodePoints {
  const result: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = result.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else result.push([first, last]);
  }
  return result;
}

function inverted(points: CodePoints): CodePoints {
  const result: [number, number][] = [];
  let next = 0;
  for (const [first, last] of points) {
    if (first > next) result.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= maxPoint) result.push([next, maxPoint]);
  return result;
}
