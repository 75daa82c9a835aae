import { CelError, type CelIssue } from '../cel-error.js';
import type { CompileWork } from '../compile-work.js';
import { either, exactly, noCost, one, sum, unbounded } from '../cost-estimate.js';
import { binaryOperators, isPresent, noSuchOverload, select, selectOptional, unaryOperators } from '../operators.js';
import {
  type CallExpression,
  dottedName,
  type Expression,
  type PresenceExpression,
  type SelectExpression,
} from '../syntax/expression.js';
import { type CelType, isAssignable, joinTypes, optionalOf, typeName, typeNames, types } from '../values/cel-type.js';
import { TypeValue, type Value } from '../values/value.js';
import { compileCall } from './calls.js';
import { absorb, type Code, type Compiled, type ExpressionCompiler, type VariableScope } from './compiled.js';
import { compileBinding, compileComprehension, compileOptionalMap } from './comprehensions.js';
import {
  type DeclaredPlace,
  declaredSizeOf,
  eitherEntries,
  type PathStep,
  placeBelow,
  sizeAt,
} from './declared-sizes.js';
import type { CelEnvironment } from './environment.js';
import { compileList, compileMap, compileMessage } from './literals.js';
import { operatorEstimate } from './operation-cost.js';
import { operatorType } from './operator-types.js';
import { TooManyIssues } from './too-many-issues.js';

/** Checks the types of an expression and prepares its evaluation, in one walk. Collects all faults. */
export class Compiler implements ExpressionCompiler {
  readonly issues: CelIssue[] = [];
  /** The declared variables that the expression names. */
  readonly variables = new Set<string>();
  mayMix: boolean;
  private lastFields: ReadonlySet<string> | undefined;

  constructor(
    readonly environment: CelEnvironment,
    private readonly work?: CompileWork,
  ) {
    this.mayMix = environment.mixedLiterals ?? false;
  }

  charge(parts: number): void {
    this.work?.charge(parts);
  }

  compile(expression: Expression, scope: VariableScope | undefined): Compiled {
    switch (expression.kind) {
      case 'literal':
        return literal(expression.value);
      case 'identifier':
        return this.identifier(expression.name, expression.at, scope);
      case 'select':
        return this.select(expression, scope);
      case 'has':
        return this.presence(expression, scope);
      case 'call':
        return this.call(expression, scope);
      case 'list':
        return compileList(this, expression, scope);
      case 'map':
        return compileMap(this, expression, scope);
      case 'message':
        return compileMessage(this, expression, scope);
      case 'comprehension':
        return compileComprehension(this, expression, scope);
      case 'optionalMap':
        return compileOptionalMap(this, expression, scope);
      case 'binding':
        return this.environment.hasBindings === true || expression.call === undefined
          ? compileBinding(this, expression, scope)
          : this.compile(expression.call, scope);
    }
  }

  fault(at: number, message: string): Compiled {
    this.issues.push({ at, message });
    if (this.issues.length >= maxIssues) throw new TooManyIssues();
    return unknown(() => {
      throw new CelError(message);
    });
  }

  expectType(compiled: Compiled, expected: CelType, at: number): void {
    if (isAssignable(expected, compiled.type, new Map())) return;
    this.fault(at, `expected type '${typeName(expected)}' but found '${typeName(compiled.type)}'`);
  }

  isVariable(name: string, scope: VariableScope | undefined): boolean {
    return findLocal(name, scope) !== undefined || Object.hasOwn(this.environment.variables, name);
  }

  private identifier(name: string, at: number, scope: VariableScope | undefined): Compiled {
    const local = findLocal(name, scope);
    if (local !== undefined) {
      const { slot, type, place, size, entries } = local;
      const code: Code = ({ locals }) => locals[slot] as Value;
      return { type, code, cost: one, size: sizeAt(place, type, size), place, entries };
    }
    if (Object.hasOwn(this.environment.variables, name)) return this.variable(name);
    if (typeNames.has(name)) return this.typeLiteral(name);
    return this.fault(at, `undeclared reference to '${name}' (in container '')`);
  }

  private variable(name: string): Compiled {
    this.variables.add(name);
    const type = this.environment.variables[name] as CelType;
    const code: Code = (evaluation) => {
      evaluation.budget.charge(1);
      const value = evaluation.variables[name];
      if (value === undefined) throw new CelError(`no such attribute(s): ${name}`);
      return value;
    };
    const place = this.below(undefined, { field: name });
    return { type, code, cost: one, size: sizeAt(place, type), place };
  }

  private typeLiteral(name: string): Compiled {
    const value = new TypeValue(name);
    const place = this.below(undefined, { field: name });
    return { type: types.type, code: () => value, cost: one, size: sizeAt(place, types.type), place };
  }

  /** The place where a part of a value is declared; `place` is that of the whole value. */
  below(place: DeclaredPlace | undefined, step: PathStep): DeclaredPlace | undefined {
    return placeBelow(place, step, this.environment.declared);
  }

  private select(expression: SelectExpression, scope: VariableScope | undefined): Compiled {
    const { operand: inner, field, isOptional, at } = expression;
    const dotted = lastFields.has(field) || this.isLastField(field) ? dottedName(expression) : undefined;
    if (dotted !== undefined && findLocal(dotted.split('.')[0] as string, scope) === undefined) {
      // Names of variables and types may contain dots: `authorizer.requestResource`.
      if (Object.hasOwn(this.environment.variables, dotted)) return this.variable(dotted);
      if (typeNames.has(dotted)) return this.typeLiteral(dotted);
    }
    const operand = this.compile(inner, scope);
    const type = this.fieldType(operand.type, field, at);
    const { code } = operand;
    const isTyped = isOptional || operand.type.kind === 'map' || operand.type.kind === 'object';
    const cost = isTyped ? sum(operand.cost, one) : operand.cost;
    if (isOptional) {
      const result = operand.type.kind === 'optional' ? type : optionalOf(type);
      return {
        type: result,
        code: (evaluation) => {
          const value = code(evaluation);
          evaluation.budget.charge(1);
          return selectOptional(value, field, evaluation.budget);
        },
        cost,
        size: declaredSizeOf(result),
      };
    }
    const place = this.below(operand.place, { field });
    return {
      type,
      code: (evaluation) => {
        const value = code(evaluation);
        evaluation.budget.charge(1);
        return select(value, field, evaluation.budget);
      },
      cost,
      size: sizeAt(place, type),
      place,
    };
  }

  /** Whether the dotted name of a variable ends in this field. Saves a look-up of every longer path. */
  private isLastField(field: string): boolean {
    this.lastFields ??= lastFieldsOf(Object.keys(this.environment.variables));
    return this.lastFields.has(field);
  }

  private presence({ operand: inner, field, at }: PresenceExpression, scope: VariableScope | undefined): Compiled {
    const operand = this.compile(inner, scope);
    this.fieldType(operand.type, field, at);
    const { code } = operand;
    return {
      type: types.bool,
      code: (evaluation) => {
        const value = code(evaluation);
        evaluation.budget.charge(1);
        return isPresent(value, field, evaluation.budget);
      },
      cost: operand.cost,
      size: one,
    };
  }

  private fieldType(type: CelType, field: string, at: number): CelType {
    switch (type.kind) {
      case 'dyn':
      case 'message':
        return types.dyn;
      case 'map':
        return type.value;
      case 'optional':
        return optionalOf(this.fieldType(type.value, field, at));
      case 'object': {
        const found = type.fields(field);
        if (found === undefined) this.fault(at, `undefined field '${field}'`);
        return found ?? types.dyn;
      }
      default:
        this.fault(at, `type '${typeName(type)}' does not support field selection`);
        return types.dyn;
    }
  }

  private call(expression: CallExpression, scope: VariableScope | undefined): Compiled {
    const { name, args, at } = expression;
    if (name === '_&&_' || name === '_||_') return this.logical(expression, scope);
    if (name === '_?_:_') return this.conditional(expression, scope);
    const unary = expression.target === undefined ? unaryOperators[name] : undefined;
    const binary = expression.target === undefined ? binaryOperators[name] : undefined;
    if (unary === undefined && binary === undefined) return compileCall(this, expression, scope);
    const operands = args.map((arg) => this.compile(arg, scope));
    const operandTypes = operands.map((operand) => operand.type);
    const type = operatorType(name, operandTypes);
    if (type === undefined) return this.noOverload(name, operandTypes, at);
    const [left, right] = operands as [Compiled, Compiled];
    const estimate = operatorEstimate(this, name, operands);
    const cost = sum(estimate.cost, ...operands.map((operand) => operand.cost));
    if (unary !== undefined) {
      const { code } = left;
      return { type, code: (evaluation) => unary(code(evaluation)), cost, size: declaredSizeOf(type) };
    }
    const run = binary as NonNullable<typeof binary>;
    const leftCode = left.code;
    const rightCode = right.code;
    const { place, entries } = estimate;
    const size = estimate.size ?? sizeAt(place, type);
    return {
      type,
      code: (evaluation) => {
        const a = leftCode(evaluation);
        const b = rightCode(evaluation);
        evaluation.budget.charge(1);
        return run(evaluation, a, b);
      },
      cost,
      size,
      place,
      entries,
    };
  }

  noOverload(name: string, argTypes: readonly CelType[], at: number, target?: CelType): Compiled {
    const args = argTypes.map(typeName).join(', ');
    const applied = target === undefined ? `(${args})` : `${typeName(target)}.(${args})`;
    return this.fault(at, `found no matching overload for '${name}' applied to '${applied}'`);
  }

  /** `&&` and `||` evaluate their operands in any order: one that decides the result outweighs errors of the others. */
  private logical({ name, args, at }: CallExpression, scope: VariableScope | undefined): Compiled {
    const operands = args.map((arg) => this.compile(arg, scope));
    const operandTypes = operands.map((operand) => operand.type);
    if (operandTypes.some((type) => !isAssignable(types.bool, type, new Map()))) {
      return this.noOverload(name, operandTypes, at);
    }
    const decisive = name === '_||_';
    const codes = operands.map((operand) => operand.code);
    const code: Code = (evaluation) => {
      let failure: CelError | undefined;
      for (const operand of codes) {
        try {
          const value = operand(evaluation);
          if (value === decisive) return decisive;
          if (typeof value !== 'boolean') failure ??= noSuchOverload();
        } catch (error) {
          failure = absorb(error, failure, evaluation);
        }
      }
      if (failure !== undefined) throw failure;
      return !decisive;
    };
    const costs = operands.map((operand) => operand.cost);
    return {
      type: types.bool,
      code,
      cost: { min: costs[0]?.min ?? 0, max: sum(...costs).max },
      size: one,
    };
  }

  private conditional({ name, args, at }: CallExpression, scope: VariableScope | undefined): Compiled {
    const operands = args.map((arg) => this.compile(arg, scope)) as [Compiled, Compiled, Compiled];
    const [condition, whenTrue, whenFalse] = operands;
    const isBool = isAssignable(types.bool, condition.type, new Map());
    const bindings = new Map<string, CelType>();
    const fits = isAssignable(types.a, whenTrue.type, bindings) && isAssignable(types.a, whenFalse.type, bindings);
    if (!isBool || !fits)
      return this.noOverload(
        name,
        operands.map((operand) => operand.type),
        at,
      );
    const code: Code = (evaluation) => {
      const chosen = condition.code(evaluation);
      if (typeof chosen !== 'boolean') throw noSuchOverload();
      return chosen ? whenTrue.code(evaluation) : whenFalse.code(evaluation);
    };
    return {
      type: typeOfEither(whenTrue, whenFalse),
      code,
      cost: sum(condition.cost, either(whenTrue.cost, whenFalse.cost)),
      size: either(whenTrue.size, whenFalse.size),
      entries: eitherEntries(whenTrue.entries, whenFalse.entries),
    };
  }
}

/** The common type of two values. A list or map without entries does not determine their types. */
function typeOfEither(a: Compiled, b: Compiled): CelType {
  if (a.type.kind === b.type.kind && (a.type.kind === 'list' || a.type.kind === 'map')) {
    if (b.size.max === 0) return a.type;
    if (a.size.max === 0) return b.type;
  }
  return joinTypes(a.type, b.type);
}

/** Checking stops after this many faults: more would not help readers. */
const maxIssues = 50;

function lastFieldsOf(names: Iterable<string>): ReadonlySet<string> {
  return new Set([...names].filter((name) => name.includes('.')).map((name) => name.slice(name.lastIndexOf('.') + 1)));
}

const lastFields = lastFieldsOf(typeNames);

function findLocal(name: string, scope: VariableScope | undefined): VariableScope | undefined {
  for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at;
  return undefined;
}

function unknown(code: Code): Compiled {
  return { type: types.dyn, code, cost: one, size: unbounded };
}

function literal(value: Value): Compiled {
  const isText = typeof value === 'string' || value instanceof Uint8Array;
  return {
    type: literalType(value),
    code: () => value,
    cost: noCost,
    size: isText ? exactly(value.length) : one,
    literal: value,
  };
}

function literalType(value: Value): CelType {
  if (value === null) return types.null;
  if (typeof value === 'boolean') return types.bool;
  if (typeof value === 'string') return types.string;
  if (typeof value === 'bigint') return types.int;
  if (typeof value === 'number') return types.double;
  return value instanceof Uint8Array ? types.bytes : types.uint;
}
