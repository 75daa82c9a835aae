import { CelError } from '../cel-error.js';
import { sum } from '../cost-estimate.js';
import type { Evaluation } from '../evaluation.js';
import type { Overload, OverloadCode } from '../function-table.js';
import { type CallExpression, dottedName, type Expression } from '../syntax/expression.js';
import { type CelType, hasType, isAssignable, types, valueTypeName } from '../values/cel-type.js';
import type { Value } from '../values/value.js';
import { type Code, type Compiled, type ExpressionCompiler, type VariableScope } from './compiled.js';
import { declaredSizeOf } from './declared-sizes.js';
import { callEstimate } from './operation-cost.js';
import { resultOf } from './operator-types.js';

/** Compiles the call of a function or a method. */
export function compileCall(
  compiler: ExpressionCompiler,
  expression: CallExpression,
  scope: VariableScope | undefined,
): Compiled {
  const { name, target, args: given, at } = expression;
  const { functions, methods } = compiler.environment.functions;
  const qualified = target === undefined ? name : qualifiedName(compiler, target, name, scope);
  const isMethod = qualified === undefined || !functions.has(qualified);
  const overloads = isMethod ? (target === undefined ? undefined : methods.get(name)) : functions.get(qualified);
  const expressions = isMethod && target !== undefined ? [target, ...given] : given;
  const mayMix = compiler.mayMix;
  if (isMethod && name === 'format') compiler.mayMix = true;
  const args = expressions.map((argument) => compiler.compile(argument, scope));
  compiler.mayMix = mayMix;
  if (overloads === undefined) {
    return compiler.fault(at, `undeclared reference to '${name}' (in container '')`);
  }
  const argTypes = args.map((arg) => arg.type);
  const fitting = overloads.filter((overload) => fits(overload, argTypes));
  const type = resultOf(fitting, argTypes);
  if (type === undefined) {
    return isMethod
      ? compiler.noOverload(name, argTypes.slice(1), at, argTypes[0])
      : compiler.noOverload(qualified, argTypes, at);
  }
  const literals = args.map((arg) => arg.literal);
  const codes: OverloadCode[] = [];
  for (const overload of fitting) {
    const special = overload.specialize?.(literals, (parts) => compiler.charge(parts));
    if (special !== undefined && typeof special !== 'function') {
      return compiler.fault((expressions.at(-1) as Expression).at, special.error);
    }
    codes.push(special ?? overload.run);
  }
  const { cost, size = declaredSizeOf(type), entries } = callEstimate(compiler, isMethod ? name : qualified, args);
  return {
    type,
    code: callCode(name, isMethod, fitting, codes, args),
    cost: sum(cost, ...args.map((arg) => arg.cost)),
    size,
    entries,
  };
}

/** `optional.of`, `sets.contains`: a function with dots in its name, unless the first part is a variable. */
function qualifiedName(
  compiler: ExpressionCompiler,
  target: Expression,
  name: string,
  scope: VariableScope | undefined,
): string | undefined {
  const head = dottedName(target);
  if (head === undefined || compiler.isVariable(head.split('.')[0] as string, scope)) return undefined;
  return `${head}.${name}`;
}

function fits(overload: Overload, args: readonly CelType[]): boolean {
  if (overload.args.length !== args.length) return false;
  const bindings = new Map<string, CelType>();
  return overload.args.every((declared, i) => isAssignable(declared, args[i] as CelType, bindings));
}

/** Whether the static types leave no doubt, so that the values need no check. */
function isCertain(overloads: readonly Overload[], args: readonly Compiled[]): boolean {
  const [only] = overloads;
  if (overloads.length !== 1 || only === undefined) return false;
  return only.args.every((declared, i) => {
    const { kind } = (args[i] as Compiled).type;
    return declared.kind === 'dyn' || declared.kind === 'parameter' || (kind === declared.kind && kind !== 'object');
  });
}

function callCode(
  name: string,
  isMethod: boolean,
  overloads: readonly Overload[],
  codes: readonly OverloadCode[],
  args: readonly Compiled[],
): Code {
  const argCodes = args.map((arg) => arg.code);
  const evaluate = (evaluation: Evaluation): Value[] => {
    const values: Value[] = [];
    for (const code of argCodes) values.push(code(evaluation));
    evaluation.budget.charge(1);
    return values;
  };
  if (isCertain(overloads, args)) {
    const run = codes[0] as OverloadCode;
    return (evaluation) => run(evaluation, ...evaluate(evaluation));
  }
  return (evaluation) => {
    const values = evaluate(evaluation);
    for (let i = 0; i < overloads.length; i++) {
      if (accepts(overloads[i] as Overload, values)) return (codes[i] as OverloadCode)(evaluation, ...values);
    }
    throw noOverload(name, isMethod, values);
  };
}

function accepts({ args }: Overload, values: readonly Value[]): boolean {
  for (let i = 0; i < args.length; i++) {
    const type = args[i] as CelType;
    if (type !== types.dyn && !hasType(values[i] as Value, type)) return false;
  }
  return true;
}

function noOverload(name: string, isMethod: boolean, values: readonly Value[]): CelError {
  const names = values.map(valueTypeName);
  const applied = isMethod ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`;
  return new CelError(`found no matching overload for '${name}' applied to '${applied}'`);
}
