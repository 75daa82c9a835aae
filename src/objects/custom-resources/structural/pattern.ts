import { RE2JS } from 're2js';
import { PatternAutomaton } from './pattern-automaton.js';
import { PatternError } from './pattern-error.js';
import type { ValidationBudget } from './validation-budget.js';

/** Limits of a pattern: the cost of compiling and matching grows with them. */
const maxPatternLength = 10_000;
const maxProgramSize = 10_000;

/** Measured costs of matching, in units of about 20 ns. */
const workPerMatch = 5;
const workPerCharacter = 0.5;
const workPerInstruction = 7;

/**
 * A pattern with the syntax of RE2, compiled at its first use. It matches in time linear in the text whatever the
 * pattern: backtracking, as RegExp does it, would let a short pattern hold the process for hours. Nearly all patterns of
 * real schemas become tables, which take a few nanoseconds a character; the others take up to 140 ns for each character
 * and instruction.
 */
export class Pattern {
  private automaton: PatternAutomaton | undefined;
  private expression: RE2JS | undefined;
  private isUnsuited = false;

  private constructor(readonly source: string) {}

  /** The cached pattern of a recently used source, or a new one: many fields have the same pattern. */
  static of(source: string): Pattern {
    let pattern = recent.get(source);
    if (pattern === undefined) {
      pattern = new Pattern(source);
      if (recent.size >= maxRecent) recent.delete(recent.keys().next().value as string);
    } else recent.delete(source);
    recent.set(source, pattern);
    return pattern;
  }

  /**
   * Whether the pattern matches anywhere in the string.
   *
   * @throws {ValidationBudgetExceeded} when the budget does not suffice.
   * @throws {PatternError} for a pattern that can't be compiled or is too large.
   */
  isIn(text: string, work: ValidationBudget): boolean {
    if (this.automaton === undefined && !this.isUnsuited && work.canBuild) this.build(work);
    if (this.automaton !== undefined) {
      work.charge(workPerMatch + text.length * workPerCharacter);
      return this.automaton.isIn(text);
    }
    this.expression ??= expressionOf(this.source);
    work.charge(workPerMatch + (text.length + 1) * this.expression.programSize() * workPerInstruction);
    return this.expression.test(text);
  }

  private build(work: ValidationBudget): void {
    const { automaton, steps } = PatternAutomaton.of(this.source);
    work.build(steps);
    this.automaton = automaton;
    this.isUnsuited = automaton === undefined;
    if (automaton !== undefined) this.expression = undefined;
  }
}

/** Recently used patterns by source, newest last. */
const recent = new Map<string, Pattern>();
const maxRecent = 2000;

/** @throws {PatternError} for a source that is not a pattern, or one that takes too much work. */
export function checkPattern(source: string): void {
  expressionOf(source);
}

/** Measured costs of compiling, in microseconds. */
const usPerPattern = 15;
const usPerCharacter = 2.5;
const usPerInstruction = 1.5;
const usPerUnicodeClass = 150;

/** The most time that compiling a pattern may take, in microseconds, estimated without compiling it. */
export function compileWork(source: string): number {
  const classes = source.match(/\\[pP]/g)?.length ?? 0;
  const instructions = Math.min(expandedSize(source), maxProgramSize * 2);
  return usPerPattern + usPerCharacter * source.length + usPerInstruction * instructions + usPerUnicodeClass * classes;
}

const repetition = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** The approximate number of instructions of a pattern when its repetitions are written out. */
function expandedSize(source: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  for (let i = 0; i < source.length; i++) {
    const char = source[i];
    if (char === '\\') i++;
    else if (char === '[') i = endOfClass(source, i);
    else if (char === '(') {
      outer.push(size + last);
      size = 0;
      last = 0;
      continue;
    } else if (char === ')') {
      const group = size + last + 2;
      size = outer.pop() ?? 0;
      last = group;
      continue;
    } else if (char === '{') {
      repetition.lastIndex = i;
      const match = repetition.exec(source);
      if (match !== null) {
        last *= Math.max(Number(match[1]), Number(match[2] || match[1]), 1);
        i += match[0].length - 1;
        continue;
      }
    }
    size += last;
    last = 1;
  }
  return outer.reduce((sum, part) => sum + part, size + last);
}

function endOfClass(source: string, start: number): number {
  for (let i = start + 2; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === ']') return i;
  }
  return source.length;
}

function expressionOf(source: string): RE2JS {
  if (source.length > maxPatternLength) throw new PatternError(`has more than ${maxPatternLength} characters`);
  if (expandedSize(source) > maxProgramSize * 2) throw new PatternError('is too large');
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(source);
  } catch (error) {
    throw new PatternError(error instanceof Error ? error.message : String(error));
  }
  if (expression.programSize() > maxProgramSize) throw new PatternError('is too large');
  return expression;
}
