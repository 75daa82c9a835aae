import { CelError } from '../cel-error.js';
import { either, exactly, noCost, one, product, type Range, sum } from '../cost-estimate.js';
import type { Evaluation } from '../evaluation.js';
import { noSuchOverload } from '../operators.js';
import type { BindingExpression, ComprehensionExpression, OptionalMapExpression } from '../syntax/expression.js';
import { type CelType, isAssignable, listOf, mapOf, optionalOf, typeName, types } from '../values/cel-type.js';
import {
  isList,
  isMap,
  ListValue,
  listItem,
  listSize,
  type MapKey,
  MapValue,
  mapGet,
  mapKey,
  mapKeys,
  OptionalValue,
  type Value,
} from '../values/value.js';
import { absorb, type Code, type Compiled, type ExpressionCompiler, type VariableScope } from './compiled.js';
import { declaredSizeOf, type EntrySizes, sizeAt } from './declared-sizes.js';

/** Calls `visit` for each element until it returns false. Charges for each. */
type Walk = (evaluation: Evaluation, range: Value, visit: () => boolean) => void;

/** Collects the results of a macro over the elements. */
interface Collector {
  /** Processes the element that is in the locals; false to stop. */
  visit(): boolean;
  result(): Value;
}

/** Compiles a macro that walks a list or a map. */
export function compileComprehension(
  compiler: ExpressionCompiler,
  { macro, range, variables, args, at }: ComprehensionExpression,
  scope: VariableScope | undefined,
): Compiled {
  const over = compiler.compile(range, scope);
  const [first, second] = elementTypes(compiler, over.type, variables.length, range.at);
  const slot = (scope?.slot ?? -1) + 1;
  const [firstSize, secondSize] = elementSizes(compiler, over, variables.length);
  let inner: VariableScope = { outer: scope, name: variables[0] as string, type: first, slot, ...firstSize };
  if (variables.length === 2) {
    inner = { outer: inner, name: variables[1] as string, type: second, slot: slot + 1, ...secondSize };
  }
  const parts = args.map((arg) => compiler.compile(arg, inner));
  const hasFilter = parts.length === 2;
  const [head, last] = [parts[0] as Compiled, parts.at(-1) as Compiled];
  const made = resultType(macro, over.type, first, last.type);
  if (macro === 'all' || macro === 'exists') compiler.expectType(head, types.bool, (args[0] as { at: number }).at);
  else if (macro === 'exists_one' || macro === 'filter' || hasFilter) expectCondition(head.type);
  const filter = hasFilter ? head.code : undefined;
  const walk = variables.length === 2 ? walkPairs(slot) : walkElements(slot);
  const collect = collectors[macro](last.code, filter, slot);
  const code: Code = (evaluation) => {
    const value = over.code(evaluation);
    const collector = collect(evaluation);
    walk(evaluation, value, () => collector.visit());
    return collector.result();
  };
  const loops = product(over.size, stepCost(macro, parts, hasFilter));
  const [before, after] = aroundLoop(macro);
  return {
    type: made,
    code,
    cost: sum(over.cost, before, loops, after),
    size: isBool(macro) ? one : over.size,
    entries: madeEntries(macro, macro === 'filter' ? sizeAt(inner.place, first, inner.size) : last.size),
  };

  /** The loop that clients know decides by a conditional operator, which their messages name. */
  function expectCondition(type: CelType): void {
    if (isAssignable(types.bool, type, new Map())) return;
    const result = typeName(macro === 'exists_one' ? types.int : made);
    const applied = `(${typeName(type)}, ${result}, ${result})`;
    compiler.fault(at, `found no matching overload for '_?_:_' applied to '${applied}'`);
  }

  function elementTypes(of: ExpressionCompiler, type: CelType, count: number, where: number): [CelType, CelType] {
    if (type.kind === 'list') return count === 1 ? [type.element, types.dyn] : [types.int, type.element];
    if (type.kind === 'map') return [type.key, type.value];
    if (type.kind === 'object' && type.isClosed !== true) return [types.string, types.dyn];
    if (type.kind !== 'dyn') {
      const message = `expression of type '${typeName(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
      of.fault(where ?? at, message);
    }
    return [types.dyn, types.dyn];
  }
}

/** The declared place and the size of a macro's variable. */
type VariableSize = Pick<VariableScope, 'place' | 'size'>;

function elementSizes(
  compiler: ExpressionCompiler,
  { type, entries, place }: Compiled,
  count: number,
): readonly [VariableSize, VariableSize] {
  const isList = entries?.isList ?? type.kind === 'list';
  const keys: VariableSize = { place: compiler.below(place, isList ? '@indices' : '@keys'), size: entries?.key };
  const values: VariableSize = { place: compiler.below(place, isList ? '@items' : '@values'), size: entries?.value };
  return count === 1 && isList ? [values, keys] : [keys, values];
}

/** The sizes of the elements of the list that a macro builds up from an empty one; undefined for other macros. */
function madeEntries(macro: ComprehensionExpression['macro'], element: Range): EntrySizes | undefined {
  if (macro !== 'filter' && macro !== 'map' && macro !== 'transformList') return undefined;
  return { isList: true, key: one, value: { min: 0, max: element.max } };
}

/** The cost of making a list of one element and adding it. */
const addToList = exactly(12);

/** The cost of one element, as the newest release counts the macro's expansion. */
function stepCost(macro: ComprehensionExpression['macro'], parts: readonly Compiled[], hasFilter: boolean): Range {
  const [head, last] = [(parts[0] as Compiled).cost, (parts.at(-1) as Compiled).cost];
  // An operator that may decide early costs at least its first operand: the result so far.
  const quantified: Range = { min: 1, max: 1 + head.max };
  const ifHolds = (made: Range): Range => sum(head, either(made, one));
  switch (macro) {
    case 'all':
      return sum(exactly(2), quantified);
    case 'exists':
      return sum(exactly(3), quantified);
    case 'exists_one':
      return ifHolds(exactly(2));
    case 'filter':
      return ifHolds(sum(addToList, one));
    case 'map':
    case 'transformList':
      return hasFilter ? ifHolds(sum(addToList, last)) : sum(addToList, last);
    // Three steps: the accumulated map, the key and the call. For entries, the expression itself makes a map instead.
    case 'transformMap':
      return hasFilter ? ifHolds(sum(exactly(3), last)) : sum(exactly(3), last);
    case 'transformMapEntry':
      return hasFilter ? ifHolds(sum(exactly(2), last)) : sum(exactly(2), last);
  }
}

/** The cost of the work before the first element, and of the work after the last one. */
function aroundLoop(macro: ComprehensionExpression['macro']): readonly [Range, Range] {
  switch (macro) {
    case 'all':
    case 'exists':
      return [noCost, one];
    case 'exists_one':
      return [noCost, exactly(2)];
    case 'filter':
    case 'map':
    case 'transformList':
      return [exactly(10), one];
    case 'transformMap':
    case 'transformMapEntry':
      return [exactly(30), one];
  }
}

function isBool(macro: ComprehensionExpression['macro']): boolean {
  return macro === 'all' || macro === 'exists' || macro === 'exists_one';
}

function resultType(macro: ComprehensionExpression['macro'], range: CelType, element: CelType, made: CelType): CelType {
  if (isBool(macro)) return types.bool;
  switch (macro) {
    case 'filter':
      return listOf(element);
    case 'map':
    case 'transformList':
      return listOf(made);
    case 'transformMap':
      return mapOf(range.kind === 'map' ? range.key : range.kind === 'list' ? types.int : types.dyn, made);
    default:
      return made.kind === 'map' ? made : mapOf(types.dyn, types.dyn);
  }
}

function walkElements(slot: number): Walk {
  return ({ budget, locals }, range, visit) => {
    if (isList(range)) {
      const size = listSize(range);
      for (let i = 0; i < size; i++) {
        budget.charge(1);
        locals[slot] = listItem(range, i);
        if (!visit()) return;
      }
      return;
    }
    if (!isMap(range)) throw noSuchOverload();
    const keys = mapKeys(range);
    budget.charge(keys.length);
    for (const key of keys) {
      locals[slot] = key;
      if (!visit()) return;
    }
  };
}

function walkPairs(slot: number): Walk {
  return ({ budget, locals }, range, visit) => {
    const isOverList = isList(range);
    if (!isOverList && !isMap(range)) throw noSuchOverload();
    const keys = isOverList ? undefined : mapKeys(range);
    const size = isOverList ? listSize(range) : (keys as readonly Value[]).length;
    for (let i = 0; i < size; i++) {
      budget.charge(1);
      const key = keys === undefined ? BigInt(i) : (keys[i] as Value);
      locals[slot] = key;
      locals[slot + 1] = isOverList ? listItem(range, i) : (mapGet(range, key) as Value);
      if (!visit()) return;
    }
  };
}

function holds(code: Code, evaluation: Evaluation): boolean {
  const value = code(evaluation);
  if (typeof value !== 'boolean') throw noSuchOverload();
  return value;
}

type MakeCollector = (code: Code, filter: Code | undefined, slot: number) => (evaluation: Evaluation) => Collector;

/** `all` and `exists`: an element that decides the result outweighs errors of others. */
function quantifier(decisive: boolean): MakeCollector {
  return (code) => (evaluation) => {
    let failure: CelError | undefined;
    let isDecided = false;
    return {
      visit() {
        try {
          isDecided = holds(code, evaluation) === decisive;
        } catch (error) {
          failure = absorb(error, failure, evaluation);
        }
        return !isDecided;
      },
      result() {
        if (isDecided) return decisive;
        if (failure !== undefined) throw failure;
        return !decisive;
      },
    };
  };
}

const intoList: MakeCollector = (code, filter) => (evaluation) => {
  const items: Value[] = [];
  return {
    visit() {
      if (filter === undefined || holds(filter, evaluation)) items.push(code(evaluation));
      return true;
    },
    result: () => new ListValue(items),
  };
};

function intoMap(
  entryOf: (code: Code, evaluation: Evaluation, slot: number) => Iterable<readonly [Value, Value]>,
): MakeCollector {
  return (code, filter, slot) => (evaluation) => {
    const entries = new Map<MapKey, { key: Value; value: Value }>();
    return {
      visit() {
        if (filter !== undefined && !holds(filter, evaluation)) return true;
        for (const [key, value] of entryOf(code, evaluation, slot)) {
          evaluation.budget.charge(1);
          const known = mapKey(key);
          if (known === undefined) throw new CelError('unsupported key type');
          if (entries.has(known))
            throw new CelError(`insert failed: key ${String(known).slice(0, 256)} already exists`);
          entries.set(known, { key, value });
        }
        return true;
      },
      result: () => new MapValue(entries),
    };
  };
}

const collectors: Readonly<Record<ComprehensionExpression['macro'], MakeCollector>> = {
  all: quantifier(false),
  exists: quantifier(true),
  exists_one: (code) => (evaluation) => {
    let count = 0;
    return {
      visit() {
        if (holds(code, evaluation)) count++;
        return true;
      },
      result: () => count === 1,
    };
  },
  filter: (code, _, slot) => (evaluation) => {
    const items: Value[] = [];
    return {
      visit() {
        const element = evaluation.locals[slot] as Value;
        if (holds(code, evaluation)) items.push(element);
        return true;
      },
      result: () => new ListValue(items),
    };
  },
  map: intoList,
  transformList: intoList,
  transformMap: intoMap((code, evaluation, slot) => [[evaluation.locals[slot] as Value, code(evaluation)]]),
  transformMapEntry: intoMap((code, evaluation) => {
    const made = code(evaluation);
    if (!isMap(made)) throw noSuchOverload();
    return mapKeys(made).map((key) => [key, mapGet(made, key) as Value] as const);
  }),
};

/** Compiles `optional.optMap(name, body)` and `optFlatMap`. */
export function compileOptionalMap(
  compiler: ExpressionCompiler,
  { target, name, body, isFlat, at }: OptionalMapExpression,
  scope: VariableScope | undefined,
): Compiled {
  const over = compiler.compile(target, scope);
  compiler.expectType(over, optionalOf(types.dyn), at);
  const slot = (scope?.slot ?? -1) + 1;
  const inner = over.type.kind === 'optional' ? over.type.value : types.dyn;
  const made = compiler.compile(body, { outer: scope, name, type: inner, slot });
  if (isFlat) compiler.expectType(made, optionalOf(types.dyn), body.at);
  return {
    type: isFlat ? made.type : optionalOf(made.type),
    code: (evaluation) => {
      const value = over.code(evaluation);
      if (!(value instanceof OptionalValue)) throw noSuchOverload();
      if (value.value === undefined) return OptionalValue.none;
      evaluation.locals[slot] = value.value;
      const result = made.code(evaluation);
      if (!isFlat) return OptionalValue.of(result);
      if (!(result instanceof OptionalValue)) throw noSuchOverload();
      return result;
    },
    cost: optionalCost(over.cost, made.cost, isFlat),
    size: declaredSizeOf(isFlat ? made.type : optionalOf(made.type)),
  };
}

/**
 * The cost of `optMap` and `optFlatMap`, as the newest release counts their expansion: a test for a value, and then a
 * loop over no elements that starts with the value, or an empty optional.
 */
function optionalCost(target: Range, body: Range, isFlat: boolean): Range {
  const whenPresent = sum(isFlat ? noCost : one, exactly(10), one, target, body);
  return sum(one, target, either(whenPresent, one));
}

/** Compiles `cel.bind(name, value, body)`. */
export function compileBinding(
  compiler: ExpressionCompiler,
  { name, value, body }: BindingExpression,
  scope: VariableScope | undefined,
): Compiled {
  const bound = compiler.compile(value, scope);
  const slot = (scope?.slot ?? -1) + 1;
  const { type, place, size, entries } = bound;
  const made = compiler.compile(body, { outer: scope, name, type, slot, place, size, entries });
  return {
    ...made,
    code: (evaluation) => {
      evaluation.locals[slot] = bound.code(evaluation);
      return made.code(evaluation);
    },
    // The newest release expands it to a loop over no elements that starts with the value.
    cost: sum(exactly(10), one, bound.cost, made.cost),
  };
}
