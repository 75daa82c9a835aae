import { Budget, expressionCostLimit } from './budget.js';
import { CelCompileError } from './cel-compile-error.js';
import { type CompileWork, expressionWork, faultyCharactersPerPart, faultyExpressionWork } from './compile-work.js';
import type { Compiled } from './compiler/compiled.js';
import { Compiler } from './compiler/compiler.js';
import type { CelEnvironment } from './compiler/environment.js';
import { TooManyIssues } from './compiler/too-many-issues.js';
import type { Range } from './cost-estimate.js';
import { ResultTypeError } from './result-type-error.js';
import type { Expression } from './syntax/expression.js';
import { parseExpression } from './syntax/parser.js';
import { type CelType, isAssignable, resultTypeName } from './values/cel-type.js';
import type { Value } from './values/value.js';

/** An expression that was parsed and checked. May be evaluated many times, also by evaluations that interleave. */
export interface Program {
  readonly text: string;
  /** Type of the result; dyn if unknown. */
  readonly type: CelType;
  /** The lowest and the highest cost of one evaluation, as far as the sizes of its inputs are known. */
  readonly cost: Range;
  /** The declared variables that the expression names. */
  readonly variables: ReadonlySet<string>;
  /**
   * Computes the result. Synchronous: the budget bounds its time. The inputs are neither copied nor changed.
   *
   * @throws {CelError} if the expression has no value for these inputs.
   * @throws {CostLimitExceeded} if the budget is used up.
   */
  evaluate(variables: Readonly<Record<string, Value>>, budget?: Budget): Value;
}

export interface CompileOptions {
  /** The result must have one of these types; a result of unknown type is accepted. Default: any. */
  readonly results?: readonly CelType[];
  /** An expression whose lowest possible cost exceeds this is refused. Default: {@link expressionCostLimit}. */
  readonly costLimit?: number;
  /** The work allowed for compiling, shared with other expressions. Default: the work allowed for one expression. */
  readonly work?: CompileWork | undefined;
}

/**
 * Parses and checks an expression. Properties that can't be known before evaluation aren't checked: fields and types of
 * values that are declared as dyn, and the results of functions of such values.
 *
 * @throws {CelCompileError} with all faults. An expression that exceeds the cost limit whatever its input is counts as
 * one.
 * @throws {CompileWorkExceeded} when the given work is used up.
 */
export function compileProgram(text: string, environment: CelEnvironment, options: CompileOptions = {}): Program {
  const { results, costLimit = expressionCostLimit, work } = options;
  const compiler = new Compiler(environment, work);
  const { type, code, cost } = checked(text, compiler, work);
  if (
    results !== undefined &&
    !results.some((result) => isAssignable(result, type, new Map()) && !isNullFor(result, type))
  ) {
    throw new ResultTypeError(text, wrongResult(results, type));
  }
  if (cost.min > costLimit) {
    const message = `estimated cost of at least ${cost.min} exceeds the limit of ${costLimit}`;
    throw new CelCompileError(text, [{ at: 0, message }]);
  }
  return {
    text,
    type,
    cost,
    variables: compiler.variables,
    evaluate: (variables, budget = new Budget(expressionCostLimit)) => code({ variables, locals: [], budget }),
  };
}

/** Whether a type is null, or a list of it, where another one is wanted: null fits variables and fields, but no result. */
function isNullFor(wanted: CelType, found: CelType): boolean {
  if (found.kind === 'null') return wanted.kind !== 'null' && wanted.kind !== 'dyn';
  return wanted.kind === 'list' && found.kind === 'list' && isNullFor(wanted.element, found.element);
}

function checked(text: string, compiler: Compiler, work: CompileWork | undefined): Compiled {
  work?.charge(expressionWork);
  try {
    return check(compiler, parseExpression(text, work), text);
  } catch (error) {
    if (error instanceof CelCompileError) work?.charge(faultyExpressionWork + text.length / faultyCharactersPerPart);
    throw error;
  }
}

function check(compiler: Compiler, expression: Expression, text: string): Compiled {
  try {
    const compiled = compiler.compile(expression, undefined);
    if (compiler.issues.length === 0) return compiled;
  } catch (error) {
    if (!(error instanceof TooManyIssues)) throw error;
  }
  throw new CelCompileError(
    text,
    compiler.issues.toSorted((one, other) => one.at - other.at),
  );
}

/** The message for an expression whose type is not among those wanted. */
export function wrongResult(wanted: readonly CelType[], found: CelType): string {
  const names = wanted.map(resultTypeName);
  return `must evaluate to ${names.length === 1 ? names[0] : `one of [${names.join(' ')}]`} but got ${resultTypeName(found)}`;
}
