import { CelError } from '../cel-error.js';
import type { Range } from '../cost-estimate.js';
import type { Evaluation } from '../evaluation.js';
import type { Expression } from '../syntax/expression.js';
import type { CelType } from '../values/cel-type.js';
import type { Value } from '../values/value.js';
import type { DeclaredPlace, EntrySizes, PathStep } from './declared-sizes.js';
import type { CelEnvironment } from './environment.js';

/** Computes the value of an expression. Throws a CelError if it has none. */
export type Code = (evaluation: Evaluation) => Value;

/** An expression ready to run. */
export interface Compiled {
  readonly type: CelType;
  readonly code: Code;
  readonly cost: Range;
  /** Number of elements or characters of the value. */
  readonly size: Range;
  /** Where the value is declared, if it is a part of a variable. */
  readonly place?: DeclaredPlace | undefined;
  /** Sizes of keys and values, if the expression makes a list or map. */
  readonly entries?: EntrySizes | undefined;
  /** The value, if the expression is a literal. */
  readonly literal?: Value | undefined;
}

/** The variables of the macros around an expression. */
export interface VariableScope {
  readonly outer: VariableScope | undefined;
  readonly name: string;
  readonly type: CelType;
  /** The same information about the value as in a {@link Compiled}. */
  readonly place?: DeclaredPlace | undefined;
  readonly size?: Range | undefined;
  readonly entries?: EntrySizes | undefined;
  /** Index in the locals of an evaluation. */
  readonly slot: number;
}

/** The services of the compiler that its parts use. */
export interface ExpressionCompiler {
  readonly environment: CelEnvironment;
  /** Whether elements of different types are allowed at the current position: always in the arguments of `format`. */
  mayMix: boolean;
  /** Counts work beyond the parts of the expression. */
  charge(parts: number): void;
  compile(expression: Expression, scope: VariableScope | undefined): Compiled;
  /** Records a fault. The result stands for the faulty expression, so that the rest is still checked. */
  fault(at: number, message: string): Compiled;
  /** Records a fault unless the type is the expected one, or unknown. */
  expectType(compiled: Compiled, expected: CelType, at: number): void;
  /** Whether a name is a variable of a macro or a declared one. */
  isVariable(name: string, scope: VariableScope | undefined): boolean;
  /** The place where a part of a value is declared; `place` is that of the whole value. */
  below(place: DeclaredPlace | undefined, step: PathStep): DeclaredPlace | undefined;
  /** Records that no overload of a function or an operator takes these types. */
  noOverload(name: string, argTypes: readonly CelType[], at: number, target?: CelType): Compiled;
}

/** The cost of an error that an operator ignores; raising one takes about as long as this many steps. */
const ignoredErrorCost = 20;

/** The error to report if nothing else decides; rethrows errors that no operator may ignore. */
export function absorb(
  error: unknown,
  before: CelError | undefined,
  { budget }: { readonly budget: { charge(units: number): void } },
): CelError {
  if (!(error instanceof CelError)) throw error;
  budget.charge(ignoredErrorCost);
  return before ?? error;
}
