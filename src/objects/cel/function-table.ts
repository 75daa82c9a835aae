import type { Evaluation } from './evaluation.js';
import type { CelType } from './values/cel-type.js';
import type { Value } from './values/value.js';

// biome-ignore lint/suspicious/noExplicitAny: overloads get values of the types that they declare
type Argument = any;

/** The code of an overload. The caller charges the call itself; this function charges work beyond that. */
export type OverloadCode = (evaluation: Evaluation, ...args: readonly Argument[]) => Value;

/** One form of a function. */
export interface Overload {
  /** Types of the arguments; that of the target first. */
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly run: OverloadCode;
  /**
   * Called when the expression is compiled, with the arguments that are literals. Returns faster code for them, or the
   * reason why they are wrong. `charge` counts work beyond that of the call, in parts of an expression.
   */
  readonly specialize?: (
    literals: readonly (Value | undefined)[],
    charge: (parts: number) => void,
  ) => OverloadCode | { readonly error: string } | undefined;
}

/** Functions by name: those called by name and those called on a target. */
export interface FunctionTable {
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  readonly methods: ReadonlyMap<string, readonly Overload[]>;
}

/** Collects the declarations of a library. */
export class LibraryBuilder {
  readonly functions = new Map<string, Overload[]>();
  readonly methods = new Map<string, Overload[]>();

  /** Declares a form of the function `name`, which may have dots. */
  fn(
    name: string,
    args: readonly CelType[],
    result: CelType,
    run: OverloadCode,
    more?: Pick<Overload, 'specialize'>,
  ): this {
    add(this.functions, name, { args, result, run, ...more });
    return this;
  }

  /** Declares a form of the method `name`; the first type is that of the target. */
  method(
    name: string,
    args: readonly CelType[],
    result: CelType,
    run: OverloadCode,
    more?: Pick<Overload, 'specialize'>,
  ): this {
    add(this.methods, name, { args, result, run, ...more });
    return this;
  }
}

/** A view of a library in which every call costs some more units. */
export function charged(library: LibraryBuilder, units: number): Pick<LibraryBuilder, 'fn' | 'method'> {
  const wrap =
    (run: OverloadCode): OverloadCode =>
    (evaluation, ...args) => {
      evaluation.budget.charge(units);
      return run(evaluation, ...args);
    };
  const view: Pick<LibraryBuilder, 'fn' | 'method'> = {
    fn: (name, args, result, run) => {
      library.fn(name, args, result, wrap(run));
      return view as LibraryBuilder;
    },
    method: (name, args, result, run) => {
      library.method(name, args, result, wrap(run));
      return view as LibraryBuilder;
    },
  };
  return view;
}

function add(to: Map<string, Overload[]>, name: string, overload: Overload): void {
  const known = to.get(name);
  if (known === undefined) to.set(name, [overload]);
  else known.push(overload);
}

/** All libraries in one table. */
export function functionTable(libraries: readonly ((library: LibraryBuilder) => void)[]): FunctionTable {
  const builder = new LibraryBuilder();
  for (const library of libraries) library(builder);
  return builder;
}
