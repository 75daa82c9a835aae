import type { CelIssue } from './cel-error.js';

/** The most faults that one error shows. */
const maxIssues = 10;

/** The longest line that an error repeats; the lines of longer expressions would hide the reason. */
const maxShownLine = 400;

/** Thrown for expressions that can't be compiled. The message names line, column and reason of every fault. */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[];

  constructor(text: string, issues: readonly CelIssue[]) {
    super(
      issues
        .slice(0, maxIssues)
        .map((issue) => describe(text, issue))
        .join('\n'),
    );
    this.name = 'CelCompileError';
    this.issues = issues;
  }
}

function describe(text: string, { at, message }: CelIssue): string {
  if (text === '') return `ERROR: <input>:1:0: ${message}`;
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const lineEnd = text.indexOf('\n', at);
  const line = text.slice(lineStart, lineEnd < 0 ? text.length : lineEnd);
  const lineNumber = text.slice(0, lineStart).split('\n').length;
  const column = at - lineStart;
  const head = `ERROR: <input>:${lineNumber}:${column + 1}: ${message}`;
  return line.length > maxShownLine ? head : `${head}\n | ${line}\n | ${'.'.repeat(column)}^`;
}
