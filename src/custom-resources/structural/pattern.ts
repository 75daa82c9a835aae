import { RE2JS } from 're2js';

/** Bounds of a pattern: what it takes to compile and to match one grows with them. */
const maxPatternLength = 10_000;
const maxProgramSize = 10_000;

const usualSize = 100;
const workPerCharacter = 10;
const workPerInstruction = 2.5;

/** A pattern is not one, or takes too much work. */
export class PatternError extends Error {}

/**
 * A pattern with the syntax of RE2, compiled at its first use. It matches in time linear in the text whatever the
 * pattern: backtracking, as RegExp does it, would let a short pattern hold the process for hours.
 */
export class Pattern {
  private compiled: RE2JS | undefined;

  constructor(readonly source: string) {}

  /**
   * What it takes at most to match a text, in units of about 20 ns: up to 200 ns a character for patterns of usual size,
   * and for large ones up to 50 ns for each instruction as well.
   *
   * @throws {PatternError} as {@link compile}.
   */
  workOn(text: string): number {
    const size = this.expression().programSize();
    return (text.length + 2) * (size <= usualSize ? workPerCharacter : size * workPerInstruction);
  }

  /**
   * Whether the pattern is somewhere in the text.
   *
   * @throws {PatternError} as {@link compile}.
   */
  isIn(text: string): boolean {
    return this.expression().test(text);
  }

  /** @throws {PatternError} for a pattern that can't be compiled or is too large. */
  compile(): void {
    this.expression();
  }

  private expression(): RE2JS {
    this.compiled ??= compile(this.source);
    return this.compiled;
  }
}

function compile(source: string): RE2JS {
  if (source.length > maxPatternLength) throw new PatternError(`has more than ${maxPatternLength} characters`);
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(source);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
  if (expression.programSize() > maxProgramSize) throw new PatternError('is too large');
  return expression;
}
