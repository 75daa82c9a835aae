import { CelError } from '../cel-error.js';
import { either, exactly, noCost, one, type Range, sum } from '../cost-estimate.js';
import { noSuchOverload } from '../operators.js';
import type { ListExpression, MapExpression, MessageExpression } from '../syntax/expression.js';
import {
  type CelType,
  isAssignable,
  joinTypes,
  listOf,
  mapOf,
  optionalOf,
  typeName,
  types,
} from '../values/cel-type.js';
import { ListValue, type MapKey, MapValue, MessageValue, mapKey, OptionalValue, type Value } from '../values/value.js';
import type { Compiled, ExpressionCompiler, VariableScope } from './compiled.js';

/** The costs of making a value, in addition to those of its parts. */
const listCost = 10;
const mapCost = 30;
const messageCost = 40;

const keyKinds: ReadonlySet<CelType['kind']> = new Set(['dyn', 'string', 'int', 'uint', 'bool']);

/** The common type of the elements of a literal. */
class ElementType {
  private common: CelType | undefined;

  constructor(
    private readonly compiler: ExpressionCompiler,
    private readonly mayDiffer: boolean,
  ) {}

  add(type: CelType, at: number): void {
    const before = this.common;
    if (before === undefined) {
      this.common = type;
      return;
    }
    const fits = isAssignable(before, type, new Map()) || isAssignable(type, before, new Map());
    if (!fits && !this.mayDiffer) {
      this.compiler.fault(at, `expected type '${typeName(before)}' but found '${typeName(type)}'`);
    }
    this.common = fits ? joinTypes(before, type) : types.dyn;
  }

  get type(): CelType {
    return this.common ?? types.dyn;
  }
}

/** The type of an element marked with `?`: that of its value. */
function unwrapped(compiler: ExpressionCompiler, part: Compiled, isOptional: boolean, at: number): CelType {
  if (!isOptional) return part.type;
  compiler.expectType(part, optionalOf(types.dyn), at);
  return part.type.kind === 'optional' ? part.type.value : types.dyn;
}

/** The value of a part; undefined if it is marked with `?` and missing. */
function present(value: Value, isOptional: boolean): Value | undefined {
  if (!isOptional) return value;
  if (!(value instanceof OptionalValue)) throw noSuchOverload();
  return value.value;
}

export function compileList(
  compiler: ExpressionCompiler,
  { elements }: ListExpression,
  scope: VariableScope | undefined,
): Compiled {
  const common = new ElementType(compiler, compiler.mayMix);
  let sizes: Range | undefined;
  const parts = elements.map(({ value, isOptional }) => {
    const part = compiler.compile(value, scope);
    common.add(unwrapped(compiler, part, isOptional, value.at), value.at);
    sizes = sizes === undefined ? part.size : either(sizes, part.size);
    return { code: part.code, isOptional, cost: part.cost };
  });
  return {
    type: listOf(common.type),
    code: (evaluation) => {
      evaluation.budget.charge(listCost + parts.length);
      const items: Value[] = [];
      for (const { code, isOptional } of parts) {
        const value = present(code(evaluation), isOptional);
        if (value !== undefined) items.push(value);
      }
      return new ListValue(items);
    },
    cost: sum(exactly(listCost), ...parts.map((part) => part.cost)),
    size: exactly(elements.length),
    entries: { isList: true, key: one, value: sizes ?? noCost },
  };
}

export function compileMap(
  compiler: ExpressionCompiler,
  { entries }: MapExpression,
  scope: VariableScope | undefined,
): Compiled {
  const mayDiffer = compiler.mayMix;
  const keyType = new ElementType(compiler, mayDiffer);
  const valueType = new ElementType(compiler, mayDiffer);
  const costs: Range[] = [exactly(mapCost)];
  let keySize: Range | undefined;
  let valueSize: Range | undefined;
  const parts = entries.map((entry) => {
    const key = compiler.compile(entry.key, scope);
    const value = compiler.compile(entry.value, scope);
    if (!keyKinds.has(key.type.kind)) compiler.fault(entry.key.at, `unsupported key type: ${typeName(key.type)}`);
    keyType.add(key.type, entry.key.at);
    valueType.add(unwrapped(compiler, value, entry.isOptional, entry.value.at), entry.value.at);
    costs.push(key.cost, value.cost);
    keySize = keySize === undefined ? key.size : either(keySize, key.size);
    valueSize = valueSize === undefined ? value.size : either(valueSize, value.size);
    return { key: key.code, value: value.code, isOptional: entry.isOptional };
  });
  return {
    type: mapOf(keyType.type, valueType.type),
    code: (evaluation) => {
      evaluation.budget.charge(mapCost + parts.length);
      const made = new Map<MapKey, { key: Value; value: Value }>();
      for (const part of parts) {
        const key = part.key(evaluation);
        const known = typeof key === 'number' ? undefined : mapKey(key);
        if (known === undefined) throw new CelError('unsupported key type');
        const value = present(part.value(evaluation), part.isOptional);
        if (value === undefined) continue;
        if (made.has(known)) throw new CelError(`Failed with repeated key: ${String(known).slice(0, 256)}`);
        made.set(known, { key, value });
      }
      return new MapValue(made);
    },
    cost: sum(...costs),
    size: exactly(entries.length),
    entries: { isList: false, key: keySize ?? noCost, value: valueSize ?? noCost },
  };
}

export function compileMessage(
  compiler: ExpressionCompiler,
  { name, fields, at }: MessageExpression,
  scope: VariableScope | undefined,
): Compiled {
  const message = compiler.environment.messages?.(name);
  if (message === undefined) return compiler.fault(at, `undeclared reference to '${name}' (in container '')`);
  const costs: Range[] = [exactly(messageCost)];
  const parts = fields.map((field) => {
    const value = compiler.compile(field.value, scope);
    costs.push(value.cost);
    const declared = message.field(field.name);
    const type = unwrapped(compiler, value, field.isOptional, field.value.at);
    if (declared === undefined) compiler.fault(field.at, `undefined field '${field.name}'`);
    else if (!isAssignable(declared, type, new Map())) {
      const message = `expected type of field '${field.name}' is '${typeName(declared)}' but provided type is '${typeName(type)}'`;
      compiler.fault(field.at, message);
    }
    const refusal = message.refuse?.(field.name, type);
    if (refusal !== undefined) compiler.fault(field.at, refusal);
    return { name: field.name, code: value.code, isOptional: field.isOptional };
  });
  return {
    type: { kind: 'message', name },
    code: (evaluation) => {
      evaluation.budget.charge(messageCost);
      const made = new Map<string, Value>();
      for (const part of parts) {
        const value = present(part.code(evaluation), part.isOptional);
        if (value !== undefined) made.set(part.name, value);
      }
      return new MessageValue(name, made);
    },
    cost: sum(...costs),
    size: exactly(fields.length),
  };
}
